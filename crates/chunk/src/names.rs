//! Suggestions for mistyped names.

/// How many suggestions an error carries at most.
const MOST: usize = 3;

/// Names among `candidates` that somebody who wrote `name` may have meant, best first, at most three.
///
/// Case is ignored. A candidate counts when it is similar as a whole (Jaro-Winkler) or when one contains
/// the other.
fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let mut scored: Vec<(f64, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let other = candidate.to_lowercase();
            let contained =
                !wanted.is_empty() && (other.contains(&wanted) || wanted.contains(&other));
            let score = strsim::jaro_winkler(&wanted, &other);
            (contained || score > 0.75).then_some((score, candidate))
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.truncate(MOST);
    scored.into_iter().map(|(_, name)| name).collect()
}

/// The tail of the message that there is no `name`: what may have been meant, else all of `candidates` when
/// there are few, else how many there are.
///
/// ```
/// use segue_chunk::suggestion;
///
/// let hint = suggestion("frame", &["frame_nr", "log_time"]);
/// assert_eq!(format!("no index 'frame'{hint}"), "no index 'frame'; did you mean 'frame_nr'?");
/// assert_eq!(suggestion("x", &["frame_nr"]), "; there is 'frame_nr'");
/// ```
pub fn suggestion(name: &str, candidates: &[&str]) -> String {
    let near = nearest(name, candidates.iter().copied());
    let quoted = |names: &[&str], last: &str| {
        let all: Vec<String> = names.iter().map(|n| format!("'{n}'")).collect();
        match all.split_last() {
            Some((end, [])) => end.clone(),
            Some((end, rest)) => format!("{} {last} {end}", rest.join(", ")),
            None => String::new(),
        }
    };
    match (near.is_empty(), candidates.len()) {
        (false, _) => format!("; did you mean {}?", quoted(&near, "or")),
        (true, 0) => "; there is none".to_owned(),
        (true, 1..=8) => format!("; there is {}", quoted(candidates, "and")),
        (true, n) => format!("; there are {n} others"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_miss_is_suggested_and_a_stranger_is_not() {
        assert_eq!(nearest("frame", ["frame_nr", "time"]), ["frame_nr"]);
        assert_eq!(nearest("tmie", ["frame_nr", "time"]), ["time"]);
        assert!(nearest("xyz", ["frame_nr", "time"]).is_empty());
    }

    #[test]
    fn few_names_are_listed_when_none_is_near() {
        assert_eq!(
            suggestion("xyz", &["frame_nr", "time"]),
            "; there is 'frame_nr' and 'time'"
        );
        assert_eq!(suggestion("xyz", &[]), "; there is none");
    }
}

//! Named parts of a long check: run all, time each, tell what failed at the end.

use std::time::{Duration, Instant};

use crate::Outcome;

/// One part of a check.
pub(crate) struct Step {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// What it proves, in half a line.
    pub(crate) about: &'static str,
    /// Does it.
    pub(crate) run: fn() -> Outcome,
}

/// Prints the names of the steps and what they prove.
pub(crate) fn list(steps: &[Step]) {
    for step in steps {
        println!("  {:<12} {}", step.name, step.about);
    }
}

/// Runs the steps that are named, or all if none is. A failure does not keep
/// the steps after it from running: one run tells all that is wrong.
pub(crate) fn run(steps: &[Step], named: &[String]) -> Outcome {
    let chosen = choose(steps, named)?;
    let mut times: Vec<(&str, Duration, bool)> = Vec::new();
    for step in chosen {
        println!("=== {}: {}", step.name, step.about);
        let start = Instant::now();
        let outcome = (step.run)();
        if let Err(why) = &outcome {
            println!("{} failed: {why}", step.name);
        }
        times.push((step.name, start.elapsed(), outcome.is_ok()));
    }

    println!("\nminutes");
    for (name, time, passed) in &times {
        println!(
            "{:7.2}  {name:<12} {}",
            time.as_secs_f64() / 60.0,
            if *passed { "passed" } else { "FAILED" }
        );
    }
    let all: Duration = times.iter().map(|(_, time, _)| *time).sum();
    println!("{:7.2}  in all", all.as_secs_f64() / 60.0);

    let failed: Vec<&str> = times
        .iter()
        .filter(|(_, _, passed)| !passed)
        .map(|(name, _, _)| *name)
        .collect();
    match failed.as_slice() {
        [] => Ok(()),
        _ => Err(format!("failed: {}", failed.join(", "))),
    }
}

fn choose<'a>(steps: &'a [Step], named: &[String]) -> Result<Vec<&'a Step>, String> {
    let unknown = named
        .iter()
        .find(|name| steps.iter().all(|step| step.name != *name));
    if let Some(name) = unknown {
        return Err(format!("no part '{name}', see `cargo xtask help`"));
    }
    Ok(steps
        .iter()
        .filter(|step| named.is_empty() || named.iter().any(|name| name == step.name))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::{Step, choose, run};

    const STEPS: &[Step] = &[
        Step {
            name: "bad",
            about: "",
            run: || Err("why".to_owned()),
        },
        Step {
            name: "good",
            about: "",
            run: || Ok(()),
        },
    ];

    fn names(named: &[&str]) -> Result<Vec<&'static str>, String> {
        let named: Vec<String> = named.iter().map(|&name| name.to_owned()).collect();
        let chosen = choose(STEPS, &named)?;
        Ok(chosen.iter().map(|step| step.name).collect())
    }

    #[test]
    fn no_name_chooses_every_step() {
        assert_eq!(names(&[]), Ok(vec!["bad", "good"]));
    }

    #[test]
    fn names_choose_their_steps_in_the_order_of_the_list() {
        assert_eq!(names(&["good"]), Ok(vec!["good"]));
        assert_eq!(names(&["good", "bad"]), Ok(vec!["bad", "good"]));
    }

    #[test]
    fn an_unknown_name_is_an_error_that_names_it() {
        assert!(names(&["god"]).is_err_and(|why| why.contains("'god'")));
    }

    #[test]
    fn the_outcome_names_the_steps_that_failed() {
        assert_eq!(run(STEPS, &[]), Err("failed: bad".to_owned()));
        assert_eq!(run(STEPS, &["good".to_owned()]), Ok(()));
    }
}

//! Which entities and components a reader wants.

use std::collections::BTreeSet;

use segue_error::{Error, ErrorCode, Result};

use crate::model::EntityPath;
use crate::names::suggestion;
use crate::schema::ComponentColumn;

/// A selection of entities and components by rules.
///
/// A rule is an entity path (`/world/robot`), a path and all below it (`/world/**`), either with a leading
/// `-` to exclude, and optionally `:component` to mean one component only (`/world/**:Points3D:positions`).
/// The most specific matching rule decides: one with a component before one without, an exact path before
/// a subtree, a longer path before a shorter one, and of equals the later one. What no rule matches is left
/// out. Recording properties are matched only by rules that name them (`/__properties/**`).
///
/// The default is `/**`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents(Vec<Rule>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    include: bool,
    root: EntityPath,
    subtree: bool,
    component: Option<String>,
}

impl Default for Contents {
    fn default() -> Self {
        Self(vec![Rule {
            include: true,
            root: EntityPath::from("/"),
            subtree: true,
            component: None,
        }])
    }
}

impl Contents {
    /// Reads rules; none select nothing. `invalid_argument` for a rule that is empty, starts with `+` (what
    /// is not excluded is included), or has `*` elsewhere than in a closing `/**`.
    pub fn parse<S: AsRef<str>>(rules: impl IntoIterator<Item = S>) -> Result<Self> {
        let rules = rules.into_iter().map(|rule| Rule::parse(rule.as_ref()));
        Ok(Self(rules.collect::<Result<_>>()?))
    }

    /// Checks that what the rules name is there: the entity of a rule without `/**`, and its component. A subtree may be
    /// empty, and what is excluded may be absent.
    ///
    /// `unknown_entity` or `unknown_column`, with the nearest names.
    pub fn check(&self, columns: &[ComponentColumn]) -> Result<()> {
        let exact = self.0.iter().filter(|rule| rule.include && !rule.subtree);
        for rule in exact {
            let root = &rule.root;
            let here = columns.iter().filter(|column| column.entity == *root);
            let components: Vec<&str> = here.map(|column| &*column.component).collect();
            if components.is_empty() {
                let entities: BTreeSet<&str> = columns.iter().map(|c| c.entity.as_str()).collect();
                let entities: Vec<&str> = entities.into_iter().collect();
                let hint = match columns.iter().any(|column| column.entity.is_within(root)) {
                    true => format!("; '{root}/**' are the entities below"),
                    false => suggestion(root.as_str(), &entities),
                };
                let message = format!("no entity '{root}'{hint}");
                let error = Error::new(ErrorCode::UnknownEntity, "contents.check", message);
                return Err(error.with_fact("entity", root.as_str()));
            }
            let component = rule.component.as_deref();
            if let Some(name) = component.filter(|name| !components.contains(name)) {
                let hint = suggestion(name, &components);
                let message = format!("entity '{root}' has no component '{name}'{hint}");
                let error = Error::new(ErrorCode::UnknownColumn, "contents.check", message);
                return Err(error.with_fact("entity", root.as_str()));
            }
        }
        Ok(())
    }

    /// Whether the rules select `column`.
    pub fn selects(&self, column: &ComponentColumn) -> bool {
        let matching = self.0.iter().filter(|rule| rule.matches(column));
        // `max_by_key` keeps the last of equals, as documented.
        matching
            .max_by_key(|rule| rule.specificity())
            .is_some_and(|rule| rule.include)
    }
}

impl Rule {
    fn parse(text: &str) -> Result<Self> {
        let invalid = |reason: &str| {
            Err(Error::new(
                ErrorCode::InvalidArgument,
                "contents.parse",
                format!("invalid contents rule '{text}': {reason}"),
            ))
        };
        let trimmed = text.trim();
        let (include, rest) = match trimmed.strip_prefix('-') {
            Some(rest) => (false, rest.trim_start()),
            None => (true, trimmed),
        };
        if rest.starts_with('+') {
            return invalid("it starts with '+', which means nothing");
        }
        let (path, component) = match unescaped_colon(rest) {
            Some(at) => (&rest[..at], Some(rest[at + 1..].to_owned())),
            None => (rest, None),
        };
        if path.is_empty() {
            return invalid("it names no entity");
        }
        if component.as_deref() == Some("") {
            return invalid("it names no component after the colon");
        }
        let (root, subtree) = match path.strip_suffix("/**") {
            Some(root) => (root, true),
            None if path == "**" => ("", true),
            None => (path, false),
        };
        if root.contains('*') {
            return invalid("'*' may stand only in a closing '/**'");
        }
        Ok(Self {
            include,
            root: EntityPath::from(root),
            subtree,
            component,
        })
    }

    fn matches(&self, column: &ComponentColumn) -> bool {
        let here = match self.subtree {
            true => column.entity.is_within(&self.root),
            false => column.entity == self.root,
        };
        let named = column.entity.property_path().is_none() || self.root.property_path().is_some();
        let component = self.component.as_deref();
        here && named && component.is_none_or(|name| name == &*column.component)
    }

    fn specificity(&self) -> (bool, bool, usize) {
        let length = self.root.as_str().len();
        (self.component.is_some(), !self.subtree, length)
    }
}

/// Where the component part of a rule starts: the first colon without a backslash before it.
fn unescaped_colon(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let found = c == ':' && !escaped;
        escaped = c == '\\' && !escaped;
        found.then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, Field};

    use super::*;

    fn column(entity: &str, component: &str) -> ComponentColumn {
        ComponentColumn {
            entity: entity.into(),
            component: component.into(),
            archetype: None,
            component_type: None,
            data_type: DataType::List(Field::new("item", DataType::Int64, true).into()),
            is_static: false,
            is_tombstone: false,
            is_semantically_empty: false,
        }
    }

    fn selects(rules: &[&str], entity: &str, component: &str) -> bool {
        let column = column(entity, component);
        Contents::parse(rules).unwrap().selects(&column)
    }

    #[test]
    fn what_is_named_must_be_there() {
        let columns = [
            column("/arm/joint", "Scalars:scalars"),
            column("/camera", "Image:buffer"),
        ];
        let check = |rule: &str| Contents::parse([rule]).unwrap().check(&columns);
        for rule in [
            "/camera",
            "/camera:Image:buffer",
            "/arm/**",
            "/nothing/**",
            "-/nothing",
            "/**",
        ] {
            check(rule).unwrap();
        }
        for (rule, code, words) in [
            (
                "/camra",
                ErrorCode::UnknownEntity,
                "no entity '/camra'; did you mean '/camera'?",
            ),
            (
                "/arm",
                ErrorCode::UnknownEntity,
                "no entity '/arm'; '/arm/**' are the entities below",
            ),
            (
                "/camera:Image:bufer",
                ErrorCode::UnknownColumn,
                "did you mean 'Image:buffer'?",
            ),
        ] {
            let error = check(rule).unwrap_err();
            assert_eq!(error.code(), code, "{error}");
            assert!(error.message().contains(words), "{error}");
        }
    }

    #[test]
    fn a_subtree_holds_its_root_and_an_exact_path_only_itself() {
        assert!(selects(&["/a/**"], "/a", "x"));
        assert!(selects(&["/a/**"], "/a/b", "x"));
        assert!(!selects(&["/a/**"], "/ab", "x"));
        assert!(!selects(&["/a"], "/a/b", "x"));
        assert!(selects(&["**"], "/a/b", "x"));
        assert!(!selects(&[], "/a", "x"));
    }

    #[test]
    fn the_most_specific_rule_decides_whatever_the_order() {
        for rules in [["/**", "-/a/**", "/a/b"], ["/a/b", "-/a/**", "/**"]] {
            assert!(selects(&rules, "/c", "x"));
            assert!(!selects(&rules, "/a/c", "x"));
            assert!(selects(&rules, "/a/b", "x"));
        }
        assert!(!selects(&["/a", "- /a"], "/a", "x"));
        assert!(selects(&["- /a", "/a"], "/a", "x"));
    }

    #[test]
    fn a_component_rule_reaches_that_component_only() {
        assert!(selects(&["/a:P:x"], "/a", "P:x"));
        assert!(!selects(&["/a:P:x"], "/a", "P:y"));
        assert!(!selects(&["/**", "-/**:P:x"], "/a", "P:x"));
        assert!(selects(&["/a\\:b"], "/a\\:b", "P:x"));
    }

    #[test]
    fn properties_are_selected_only_by_name() {
        assert!(!selects(&["/**"], "/__properties/episode", "task"));
        assert!(selects(
            &["/**", "/__properties/**"],
            "/__properties/episode",
            "task"
        ));
    }

    #[test]
    fn a_rule_that_means_nothing_is_refused() {
        for rule in ["", "-", "+/a", "+ /a", "/a/*/b", "/a*", ":x", "/a:"] {
            let error = Contents::parse([rule]).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidArgument, "{rule}");
        }
    }
}

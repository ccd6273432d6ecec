//! What Clear clears.

use super::*;

#[test]
fn a_clear_writes_an_empty_list_to_its_entity_and_below_where_it_is_recursive() {
    let value = |entity, id| {
        let chunk = chunk(entity, id).row_ids([id]).sequence("frame", [0]);
        chunk.floats(SCALAR, [Some(1.)]).build()
    };
    let clear = chunk("/a", 9).row_ids([8, 9]).sequence("frame", [1, 2]);
    let chunks = vec![
        value("/a", 1),
        value("/a/b", 2),
        value("/ab", 3),
        clear.clear([false, true]).build(),
    ];
    let rows = Table::new(Some("frame"), "/**", chunks.clone()).rows(&[]);
    assert_eq!(times(&rows, "frame"), [Some(0), Some(1), Some(2)]);
    let cleared = Some(vec![]);
    let one = Some(vec![1.]);
    let column = |entity: &str| lists(&rows, &format!("{entity}:{SCALAR}"));
    assert_eq!(
        column("/a"),
        [one.clone(), cleared.clone(), cleared.clone()]
    );
    assert_eq!(column("/a/b"), [one.clone(), None, cleared.clone()]);
    assert_eq!(column("/ab"), [one, None, None]);
    // The entity that is cleared need not be part of the contents.
    let rows = Table::new(Some("frame"), "/a/b", chunks).rows(&[]);
    assert_eq!(times(&rows, "frame"), [Some(0), Some(2)]);
}

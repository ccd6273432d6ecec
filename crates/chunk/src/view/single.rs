//! Columns of single values.

use arrow::datatypes::{DataType, Field};

use super::Unnest;
use crate::schema::ComponentColumn;

/// Fields of which Rerun's archetypes (of the versions 0.36 and 0.41 of its Python package) declare one value per row,
/// by archetype. All other fields are declared as lists, also where lists of one are usual, as in `Scalars`.
const SINGLE: [(&str, &[&str]); 47] = [
    ("AnnotationContext", &["context"]),
    ("Arrows2D", &["draw_order", "show_labels"]),
    ("Arrows3D", &["show_labels"]),
    ("Asset3D", &["albedo_factor", "blob", "media_type"]),
    ("AssetAudio", &["blob", "media_type"]),
    ("AssetVideo", &["blob", "media_type"]),
    ("BarChart", &["abscissa", "color", "values"]),
    ("Boxes2D", &["draw_order", "show_labels"]),
    ("Boxes3D", &["fill_mode", "show_labels"]),
    ("Capsules3D", &["fill_mode", "show_labels"]),
    ("Clear", &["is_recursive"]),
    ("CoordinateFrame", &["frame"]),
    ("Cylinders3D", &["fill_mode", "show_labels"]),
    (
        "DepthImage",
        &[
            "buffer",
            "colormap",
            "depth_range",
            "draw_order",
            "format",
            "magnification_filter",
            "meter",
            "point_fill_ratio",
        ],
    ),
    ("Ellipses2D", &["draw_order", "show_labels"]),
    ("Ellipsoids3D", &["fill_mode", "show_labels"]),
    (
        "EncodedDepthImage",
        &[
            "blob",
            "colormap",
            "depth_range",
            "draw_order",
            "magnification_filter",
            "media_type",
            "meter",
            "point_fill_ratio",
        ],
    ),
    (
        "EncodedImage",
        &[
            "blob",
            "draw_order",
            "magnification_filter",
            "media_type",
            "opacity",
        ],
    ),
    ("GaussianSplats3D", &["spherical_harmonics_degree"]),
    ("GraphEdges", &["graph_type"]),
    ("GraphNodes", &["show_labels"]),
    (
        "GridMap",
        &[
            "cell_size",
            "colormap",
            "data",
            "draw_order",
            "format",
            "opacity",
            "quaternion",
            "rotation_axis_angle",
            "translation",
        ],
    ),
    (
        "Image",
        &[
            "buffer",
            "draw_order",
            "format",
            "magnification_filter",
            "opacity",
        ],
    ),
    ("LineStrips2D", &["draw_order", "show_labels"]),
    ("LineStrips3D", &["show_labels"]),
    (
        "McapChannel",
        &["id", "message_encoding", "metadata", "topic"],
    ),
    ("McapMessage", &["data"]),
    ("McapSchema", &["data", "encoding", "id", "name"]),
    (
        "McapStatistics",
        &[
            "attachment_count",
            "channel_count",
            "channel_message_counts",
            "chunk_count",
            "message_count",
            "message_end_time",
            "message_start_time",
            "metadata_count",
            "schema_count",
        ],
    ),
    (
        "Measurements",
        &["aggregation_policy", "interpolation_mode"],
    ),
    (
        "Mesh3D",
        &[
            "albedo_factor",
            "albedo_texture_buffer",
            "albedo_texture_format",
            "face_rendering",
        ],
    ),
    (
        "Pinhole",
        &[
            "camera_xyz",
            "child_frame",
            "color",
            "image_from_camera",
            "image_plane_distance",
            "line_width",
            "parent_frame",
            "resolution",
        ],
    ),
    ("Points2D", &["draw_order", "show_labels"]),
    ("Points3D", &["point_shading", "show_labels"]),
    ("RecordingInfo", &["name", "start_time"]),
    (
        "SegmentationImage",
        &["buffer", "draw_order", "format", "opacity"],
    ),
    ("SeriesLines", &["aggregation_policy", "interpolation_mode"]),
    ("Tensor", &["data", "value_range"]),
    ("TextDocument", &["media_type", "text"]),
    ("TextLog", &["color", "level", "text"]),
    (
        "Transform3D",
        &[
            "child_frame",
            "mat3x3",
            "parent_frame",
            "quaternion",
            "relation",
            "rotation_axis_angle",
            "scale",
            "translation",
        ],
    ),
    ("TransformAxes3D", &["axis_length", "show_frame"]),
    (
        "VideoFrameReference",
        &["draw_order", "opacity", "timestamp", "video_reference"],
    ),
    (
        "VideoStream",
        &["codec", "draw_order", "is_keyframe", "opacity", "sample"],
    ),
    ("ViewCoordinates", &["xyz"]),
    (
        "Volume3D",
        &[
            "colormap",
            "gamma",
            "optical_density",
            "quaternion",
            "translation",
            "value_range",
            "values",
            "voxel_size",
        ],
    ),
    (
        "VoxelGridMap",
        &[
            "colormap",
            "opacity",
            "quaternion",
            "rotation_axis_angle",
            "translation",
            "value_range",
            "voxel_size",
        ],
    ),
];

/// Whether the column of `component` is plain values.
pub(super) fn is_plain(component: &ComponentColumn, unnest: &Unnest) -> bool {
    match unnest {
        Unnest::Off => false,
        Unnest::Auto => is_declared_single(&component.component),
        Unnest::Selected(contents) => contents.selects(component),
    }
}

/// Whether an archetype declares one value for the component called `name`.
fn is_declared_single(name: &str) -> bool {
    name.split_once(':').is_some_and(|(archetype, field)| {
        let known = SINGLE.binary_search_by_key(&archetype, |(name, _)| *name);
        known.is_ok_and(|at| SINGLE[at].1.contains(&field))
    })
}

/// The field of the values in the lists of `field`. They can be null: a list may be absent or empty.
pub(super) fn plain(field: Field) -> Field {
    match field.data_type() {
        DataType::List(item) => {
            let data_type = item.data_type().clone();
            field.with_data_type(data_type)
        }
        _ => field,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_single_is_found_and_nothing_else() {
        assert!(SINGLE.is_sorted_by(|a, b| a.0 < b.0));
        for (archetype, fields) in SINGLE {
            assert!(fields.is_sorted_by(|a, b| a < b), "{archetype}");
            for field in fields {
                assert!(is_declared_single(&format!("{archetype}:{field}")));
            }
        }
        for name in [
            "Scalars:scalars",
            "Points3D:positions",
            "TextLog",
            "text",
            "Own:text",
            "",
        ] {
            assert!(!is_declared_single(name), "{name}");
        }
    }
}

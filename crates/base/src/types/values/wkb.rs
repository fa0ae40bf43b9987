//! Geometries in well-known binary, which Dgraph stores.

use super::geo::{Coordinate, Geometry, GeometryError};
use crate::types::stack;

/// The deepest nesting of collections within collections.
const DEPTH_MAX: usize = 64;

impl Geometry {
    /// Returns the least-significant-first form; 3 and 4 dimensions add 1000 and 3000 to the type.
    pub fn to_wkb(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_wkb(&mut out);
        out
    }

    /// Reads what [`Geometry::to_wkb`] writes, and the big-endian form.
    ///
    /// # Errors
    ///
    /// [`GeometryError::NoBinary`].
    pub fn from_wkb(bytes: &[u8]) -> Result<Geometry, GeometryError> {
        let mut reader = Reader { bytes, at: 0 };
        // Bytes after the geometry are damage, too.
        let read = reader.geometry(0).filter(|_| reader.at == bytes.len());
        read.ok_or(GeometryError::NoBinary)
    }

    fn write_wkb(&self, out: &mut Vec<u8>) {
        stack::require();
        match self {
            Geometry::Point(point) => write_point(point, out),
            Geometry::LineString(points) => write_line(2, points, out),
            Geometry::Polygon(rings) => write_polygon(rings, out),
            Geometry::MultiPoint(points) => {
                write_head(4, points.first(), points.len(), out);
                points.iter().for_each(|point| write_point(point, out));
            }
            Geometry::MultiLineString(lines) => {
                write_head(5, lines.iter().flatten().next(), lines.len(), out);
                lines.iter().for_each(|line| write_line(2, line, out));
            }
            Geometry::MultiPolygon(polygons) => {
                write_head(6, polygons.iter().flatten().flatten().next(), polygons.len(), out);
                polygons.iter().for_each(|rings| write_polygon(rings, out));
            }
            Geometry::Collection(members) => {
                write_head(7, None, members.len(), out);
                members.iter().for_each(|member| member.write_wkb(out));
            }
        }
    }
}

fn write_type(code: u32, first: Option<&Coordinate>, out: &mut Vec<u8>) {
    // In ISO's form 1000 adds z, 2000 m alone, which no coordinate has, and 3000 both.
    let more = match first.map_or(2, |point| point.axes().len()) {
        3 => 1000,
        4 => 3000,
        _ => 0,
    };
    out.push(1);
    out.extend_from_slice(&(code + more).to_le_bytes());
}

fn write_head(code: u32, first: Option<&Coordinate>, count: usize, out: &mut Vec<u8>) {
    write_type(code, first, out);
    write_count(count, out);
}

fn write_count(count: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&(count as u32).to_le_bytes());
}

fn write_axes(point: &Coordinate, out: &mut Vec<u8>) {
    point.axes().iter().for_each(|axis| out.extend_from_slice(&axis.to_le_bytes()));
}

fn write_point(point: &Coordinate, out: &mut Vec<u8>) {
    write_type(1, Some(point), out);
    write_axes(point, out);
}

fn write_line(code: u32, points: &[Coordinate], out: &mut Vec<u8>) {
    write_head(code, points.first(), points.len(), out);
    points.iter().for_each(|point| write_axes(point, out));
}

fn write_polygon(rings: &[Vec<Coordinate>], out: &mut Vec<u8>) {
    write_head(3, rings.iter().flatten().next(), rings.len(), out);
    for ring in rings {
        write_count(ring.len(), out);
        ring.iter().for_each(|point| write_axes(point, out));
    }
}

/// Reads with every count bounded by the bytes that are left.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// How the numbers of the geometry that is being read are laid out.
#[derive(Clone, Copy)]
struct Head {
    code: u32,
    dimensions: usize,
    is_small: bool,
}

impl Reader<'_> {
    fn geometry(&mut self, depth: usize) -> Option<Geometry> {
        stack::require();
        let head = self.head().filter(|_| depth <= DEPTH_MAX)?;
        Some(match head.code {
            1 => Geometry::Point(self.point(head)?),
            2 => Geometry::LineString(self.points(head)?),
            3 => Geometry::Polygon(self.rings(head)?),
            4 => Geometry::MultiPoint(self.members(head, 1, Reader::point)?),
            5 => Geometry::MultiLineString(self.members(head, 2, Reader::points)?),
            6 => Geometry::MultiPolygon(self.members(head, 3, Reader::rings)?),
            7 => {
                // A member has at least the byte of its order and the four of its type.
                let count = self.count(head, 5)?;
                Geometry::Collection(
                    (0..count).map(|_| self.geometry(depth + 1)).collect::<Option<_>>()?,
                )
            }
            _ => return None,
        })
    }

    fn members<T>(
        &mut self,
        head: Head,
        code: u32,
        read: fn(&mut Self, Head) -> Option<T>,
    ) -> Option<Vec<T>> {
        let count = self.count(head, 5)?;
        (0..count)
            .map(|_| {
                let member = self.head().filter(|member| member.code == code)?;
                read(self, member)
            })
            .collect()
    }

    fn head(&mut self) -> Option<Head> {
        let is_small = match self.bytes::<1>()? {
            [0] => false,
            [1] => true,
            _ => return None,
        };
        let code = self.number(is_small)?;
        let dimensions = match code / 1000 {
            0 => 2,
            1 => 3,
            3 => 4,
            _ => return None,
        };
        Some(Head { code: code % 1000, dimensions, is_small })
    }

    fn rings(&mut self, head: Head) -> Option<Vec<Vec<Coordinate>>> {
        // A ring has at least the four bytes of its count.
        let count = self.count(head, 4)?;
        (0..count).map(|_| self.points(head)).collect()
    }

    fn points(&mut self, head: Head) -> Option<Vec<Coordinate>> {
        let count = self.count(head, 8 * head.dimensions)?;
        (0..count).map(|_| self.point(head)).collect()
    }

    fn point(&mut self, head: Head) -> Option<Coordinate> {
        let mut axes = [0.0; 4];
        for axis in &mut axes[..head.dimensions] {
            let bytes = self.bytes::<8>()?;
            *axis =
                if head.is_small { f64::from_le_bytes(bytes) } else { f64::from_be_bytes(bytes) };
            if !axis.is_finite() {
                return None;
            }
        }
        Coordinate::new(&axes[..head.dimensions])
    }

    /// How many items follow, each of so many bytes at least.
    fn count(&mut self, head: Head, bytes_min: usize) -> Option<usize> {
        let count = self.number(head.is_small)? as usize;
        // Without this, four bytes of damage could request gigabytes.
        let left = self.bytes.len() - self.at;
        (count <= left / bytes_min).then_some(count)
    }

    fn number(&mut self, is_small: bool) -> Option<u32> {
        let bytes = self.bytes::<4>()?;
        Some(if is_small { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let bytes = self.bytes.get(self.at..)?.first_chunk::<N>()?;
        self.at += N;
        Some(*bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn round_trips() {
        for text in [
            r#"{"type":"Point","coordinates":[1,2]}"#,
            r#"{"type":"LineString","coordinates":[[1,2,3],[3,4,5]]}"#,
            r#"{"type":"Polygon","coordinates":[[[0,0],[2,0],[2,2],[0,2],[0,0]]]}"#,
            r#"{"type":"MultiPoint","coordinates":[[1,2,3,4],[3,4,5,6]]}"#,
            r#"{"type":"MultiLineString","coordinates":[[[1,2,3],[4,5,6],[7,8,9],[1,2,3]]]}"#,
            r#"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]]]}"#,
            r#"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]}]}"#,
        ] {
            let geometry = Geometry::parse(text).unwrap();
            let bytes = geometry.to_wkb();
            assert_eq!(Geometry::from_wkb(&bytes), Ok(geometry));
            for length in 0..bytes.len() {
                let cut = Geometry::from_wkb(&bytes[..length]);
                assert_eq!(cut, Err(GeometryError::NoBinary));
            }
        }
    }

    #[test]
    fn a_point_has_21_bytes() {
        let point = Geometry::Point(Coordinate::new(&[1.0, 2.0]).unwrap());
        let mut expected = vec![1, 1, 0, 0, 0];
        expected.extend_from_slice(&1f64.to_le_bytes());
        expected.extend_from_slice(&2f64.to_le_bytes());
        assert_eq!(point.to_wkb(), expected);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = Geometry::from_wkb(&bytes);
        }

        #[test]
        fn damage_is_survived(at in 0usize..93, byte in any::<u8>()) {
            let text = r#"{"type":"Polygon","coordinates":[[[0,0],[2,0],[2,2],[0,2],[0,0]]]}"#;
            let mut bytes = Geometry::parse(text).unwrap().to_wkb();
            let last = bytes.len() - 1;
            bytes[at.min(last)] = byte;
            let _ = Geometry::from_wkb(&bytes);
        }
    }
}

//! Types with serde to values and back, and the wire form.
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use armature_client::{api, from_item, from_value, item, to_item, to_value, Binary, Error, Item, Number, Value};
use prost::Message;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

fn number(text: &str) -> Number {
    text.parse().unwrap()
}

/// Encodes, sends over the wire form, and decodes.
fn returned<T: Serialize + DeserializeOwned>(data: &T) -> T {
    let item = to_item(data).unwrap();
    let wire = item.encode_to_vec();
    assert_eq!(wire.len(), item.encoded_len());
    let decoded = Item::decode(wire.as_slice()).unwrap();
    assert_eq!(decoded, item);
    from_item(decoded).unwrap()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle(f64),
    Pair(i32, String),
    Box { width: u8, height: u8 },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Tagged {
    Circle { radius: Number },
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    text: String,
    character: char,
    flag: bool,
    small: i8,
    huge: u128,
    low: i128,
    float: f64,
    single: f32,
    number: Number,
    some: Option<u16>,
    none: Option<u16>,
    unit: (),
    tuple: (u8, String),
    list: Vec<Vec<u32>>,
    map: BTreeMap<String, Shape>,
    by_number: HashMap<i64, bool>,
    shapes: Vec<Shape>,
    tagged: Vec<Tagged>,
    binary: Binary,
    #[serde(with = "serde_bytes")]
    bytes: Vec<u8>,
    #[serde(with = "armature_client::binary")]
    more_bytes: Vec<u8>,
    octets: Vec<u8>,
    #[serde(with = "armature_client::set")]
    texts: BTreeSet<String>,
    #[serde(with = "armature_client::set")]
    numbers: HashSet<i64>,
    #[serde(with = "armature_client::set")]
    contents: Vec<Binary>,
    #[serde(with = "armature_client::number")]
    as_text: String,
    value: Value,
    item: Item,
}

fn everything() -> Everything {
    Everything {
        text: "Grüße 🎉".into(),
        character: '世',
        flag: true,
        small: -128,
        huge: u128::MAX,
        low: i128::MIN,
        float: 0.1,
        single: 0.1,
        number: number("-1.2345678901234567890123456789012345678E-100"),
        some: Some(7),
        none: None,
        unit: (),
        tuple: (1, "two".into()),
        list: vec![vec![], vec![1, 2]],
        map: [("a".into(), Shape::Point)].into(),
        by_number: [(-5, true)].into(),
        shapes: vec![
            Shape::Point,
            Shape::Circle(1e300),
            Shape::Pair(-1, String::new()),
            Shape::Box { width: 1, height: 255 },
        ],
        tagged: vec![Tagged::Circle { radius: number("0.30000000000000000000000000000000000001") }, Tagged::Nothing],
        binary: vec![0, 255].into(),
        bytes: vec![1],
        more_bytes: vec![],
        octets: vec![1, 2],
        texts: ["".into(), "a".into()].into(),
        numbers: [1, -2].into(),
        contents: vec![vec![].into(), vec![9].into()],
        as_text: "12.50".into(),
        value: Value::Ns([number("1.5")].into()),
        item: item! { "deep": vec![Value::Null, item! { "b": Binary(vec![1]) }.into()] },
    }
}

#[test]
fn all_types_come_back() {
    let mut everything = everything();
    let back = returned(&everything);
    everything.contents.sort();
    assert_eq!(back, everything);
}

#[test]
fn types_are_those_of_the_table() {
    let item = to_item(&everything()).unwrap();
    let types: Vec<_> = item.iter().map(|(name, value)| (name.as_str(), value.type_name())).collect();
    for expected in [
        ("binary", "B"),
        ("bytes", "B"),
        ("more_bytes", "B"),
        ("octets", "L"),
        ("texts", "SS"),
        ("numbers", "NS"),
        ("contents", "BS"),
        ("as_text", "N"),
        ("none", "NULL"),
        ("unit", "NULL"),
        ("huge", "N"),
        ("map", "M"),
        ("character", "S"),
    ] {
        assert!(types.contains(&expected), "{expected:?} in {types:?}");
    }
    assert_eq!(
        item["shapes"],
        Value::L(vec![
            "Point".into(),
            item! { "Circle": 1e300 }.into(),
            item! { "Pair": vec![Value::from(-1), "".into()] }.into(),
            item! { "Box": item! { "width": 1, "height": 255 } }.into(),
        ])
    );
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Flat {
    id: String,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct FlatNumber {
    #[serde(flatten)]
    inner: Inner,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Inner {
    exact: Number,
    float: f64,
    wide: u64,
    beyond: Number,
}

#[test]
fn flattened_numbers_lose_nothing() {
    let exact = number("0.12345678901234567890123");
    let beyond = number("-99999999999999999999999999999999999999");
    let inner = Inner { exact: exact.clone(), float: 0.1, wide: u64::MAX, beyond: beyond.clone() };
    let flat = FlatNumber { inner };
    assert_eq!(returned(&flat), flat);
    let item = item! { "exact": 1, "wide": 1, "beyond": 1, "float": exact.clone() };
    let lossy: Result<FlatNumber, Error> = from_item(item);
    assert!(matches!(lossy, Err(Error::Decode(_))), "{lossy:?}");
    let rest: BTreeMap<String, Value> =
        [("n".into(), 1.into()), ("s".into(), "x".into()), ("e".into(), exact.into()), ("b".into(), beyond.into())]
            .into();
    let flat = Flat { id: "ann".into(), rest };
    assert_eq!(returned(&flat), flat);
}

#[test]
fn errors_name_the_attribute() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Line {
        price: u8,
    }
    #[derive(Debug, Serialize, Deserialize)]
    struct Order {
        lines: Vec<Line>,
    }
    let cases = [
        (item! { "lines": [item! { "price": 1 }, item! { "price": 256 }] }, "lines[1].price"),
        (item! { "lines": [item! { "price": 1.5 }] }, "lines[0].price"),
        (item! { "lines": [item! { "price": "1" }] }, "lines[0].price"),
        (item! { "lines": [item! { "price": Value::Null }] }, "lines[0].price"),
        (item! { "lines": [item! {}] }, "lines[0]"),
        (item! { "lines": 3 }, "lines"),
    ];
    for (item, path) in cases {
        match from_item::<Order>(item.clone()) {
            Err(Error::Decode(error)) => assert_eq!(error.path, path, "{item:?}: {error}"),
            other => panic!("{item:?} gives {other:?}"),
        }
    }
    let nan: BTreeMap<&str, Vec<f64>> = [("list", vec![0.0, f64::NAN])].into();
    let refused = to_item(&nan).unwrap_err().to_string();
    assert!(refused.starts_with("attribute list[1]:"), "{refused}");
}

#[test]
fn what_has_no_form_is_refused() {
    #[derive(Serialize)]
    struct Tags {
        #[serde(with = "armature_client::set")]
        tags: Vec<Value>,
    }
    for tags in [vec![], vec![Value::from(1), "a".into()], vec![Value::Null], vec![true.into()]] {
        assert!(matches!(to_item(&Tags { tags: tags.clone() }), Err(Error::Encode(_))), "{tags:?}");
    }
    assert!(to_value(&f64::INFINITY).is_err());
    assert!(to_value(&f32::NAN).is_err());
    assert!(to_item(&[1, 2]).is_err());
    assert!(to_value(&HashMap::from([(vec![1], 1)])).is_err());
    assert!(to_value(&Value::Ss(BTreeSet::new())).is_err());
    assert!(from_value::<Vec<(u8, u8)>>(vec![vec![1, 2, 3]].into()).is_err());
}

#[test]
fn numbers_have_values() {
    let ascending = [
        "-9.9e125", "-1000", "-10.5", "-10.4999", "-1e-130", "0", "1e-130", "0.5", "0.50001", "1", "9", "10", "1e20",
        "9.9e125",
    ];
    for (at, low) in ascending.iter().enumerate() {
        for high in &ascending[at + 1..] {
            assert!(number(low) < number(high), "{low} < {high}");
        }
    }
    let hashes: HashSet<Number> = ["1", "1.0", "+1", "1e0", "0.1E1", "10e-1", "001"].map(number).into();
    assert_eq!(hashes.len(), 1);
    assert_eq!(["0", "-0.0", "0e9", ".0"].map(number).into_iter().collect::<BTreeSet<_>>().len(), 1);
    for wrong in ["", "-", ".", "e1", "1e", "1e99999", "0x1", "1_000", "NaN", "inf", "1.2.3", " 1", "١", "1e+-1"] {
        assert!(wrong.parse::<Number>().is_err(), "{wrong}");
    }
    for float in [0.0, 1.0, -12.5, 1e-5, 1e21, 1.0 / 3.0, f64::MIN_POSITIVE, 1.7976931348623157e125] {
        assert_eq!(Number::try_from(float).unwrap().parse::<f64>(), Ok(float));
    }
    assert_eq!(to_value(&16777216.5f32).unwrap(), Value::N(number("16777216")));
}

#[test]
fn values_are_natural_in_other_formats() {
    let json = serde_json::to_value(item! { "n": 1, "s": "x", "l": [true], "m": item! { "a": Value::Null } }).unwrap();
    assert_eq!(json, serde_json::json!({"n": "1", "s": "x", "l": [true], "m": {"a": null}}));
    let item: Item = serde_json::from_str(r#"{"n": 1.5, "big": 18446744073709551615, "l": [null, "x"]}"#).unwrap();
    assert_eq!(item, item! { "n": number("1.5"), "big": u64::MAX, "l": [Value::Null, "x".into()] });
    assert_eq!(serde_json::from_str::<Number>("-7").unwrap(), Number::from(-7));
    // Programs without a schema read items as JSON.
    let json: serde_json::Value = from_item(item! { "n": 1, "set": Value::Ns([number("2")].into()) }).unwrap();
    assert_eq!(json, serde_json::json!({"n": 1, "set": [2]}));
}

#[test]
fn thirty_two_levels_come_over_the_wire() {
    for make in [|value| Value::L(vec![value]), |value| Value::M(Item::from([("m", value)]))] {
        let mut value = Value::from("deep");
        for _ in 1..32 {
            value = make(value);
        }
        // The answer with the most messages around an item.
        let list = api::ItemList { items: vec![Item::from([("a", value)])] };
        let answer = api::BatchGetItemResponse { responses: [("t".to_owned(), list)].into(), ..Default::default() };
        assert_eq!(api::BatchGetItemResponse::decode(answer.encode_to_vec().as_slice()).unwrap(), answer);
    }
    let bottomless: Vec<u8> = (0..40_000u32).fold(Vec::new(), |inner, _| {
        let list = [&[0x0a][..], &varint(inner.len()), &inner].concat();
        if list.len() > 1 << 20 {
            return list;
        }
        [&[0x4a][..], &varint(list.len()), &list].concat()
    });
    assert!(Value::decode(bottomless.as_slice()).is_err());
}

fn varint(mut length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes
}

#[test]
fn nulls_are_values_on_the_wire() {
    let item = item! { "nothing": Value::Null, "list": [Value::Null], "empty": "", "no": false };
    assert_eq!(Item::decode(item.encode_to_vec().as_slice()).unwrap(), item);
    let null = api::AttributeValue::from(Value::Null);
    let request =
        api::PutItemRequest { expression_attribute_values: [(":n".to_owned(), null)].into(), ..Default::default() };
    let decoded = api::PutItemRequest::decode(request.encode_to_vec().as_slice()).unwrap();
    assert_eq!(decoded.expression_attribute_values[":n"].value, Some(Value::Null));
}

#[test]
fn damaged_bytes_are_errors() {
    let wire = to_item(&everything()).unwrap().encode_to_vec();
    let mut random = 1u64;
    for _ in 0..20_000 {
        let mut damaged = wire.clone();
        for _ in 0..3 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let at = (random >> 33) as usize % damaged.len();
            damaged[at] ^= (random >> 24) as u8;
        }
        damaged.truncate((random >> 20) as usize % damaged.len() + 1);
        if let Ok(item) = Item::decode(damaged.as_slice()) {
            // The result may be anything, but without a panic.
            let _ = from_item::<Everything>(item);
        }
    }
}

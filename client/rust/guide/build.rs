//! Makes a program of the code in docs/develop/clients/rust.md. GUIDE names another file.
//!
//! Blocks that begin with an attribute or `use` are items. Those with the host db.example.org are compiled only. All others are the
//! statements of one function, in their order.
use std::{env, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-env-changed=GUIDE");
    let guide = env::var("GUIDE").unwrap_or_else(|_| "../../../docs/develop/clients/rust.md".into());
    println!("cargo::rerun-if-changed={guide}");
    let text = fs::read_to_string(&guide).unwrap_or_else(|error| panic!("{guide}: {error}"));
    let (mut items, mut statements, mut compiled) = (String::new(), String::new(), String::new());
    for block in text.split("```rust\n").skip(1) {
        let block = block.split("```").next().expect("split has a part");
        if block.starts_with("#[") || block.starts_with("use ") {
            items.push_str(block);
        } else if block.contains("db.example.org") {
            compiled.push_str(&format!("{{\n{block}}}\n"));
        } else {
            statements.push_str(&block.replace("\"localhost:7700\"", "&address"));
        }
    }
    let program = format!(
        "{items}\nasync fn guide(address: String) -> Result<(), Error> {{\n{statements}\nOk(())\n}}\n\
         #[allow(dead_code, unused_variables)]\nfn compiled(secret: &str) -> Result<(), Error> {{\n{compiled}\nOk(())\n}}\n"
    );
    fs::write(Path::new(&env::var("OUT_DIR").expect("is set by cargo")).join("guide.rs"), program)
        .expect("the program");
}

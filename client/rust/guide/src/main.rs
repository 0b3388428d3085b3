//! Runs the code of docs/develop/clients/rust.md against the daemon at $ARMATURED.
#![allow(unused_imports, unused_variables, clippy::let_unit_value)]
include!(concat!(env!("OUT_DIR"), "/guide.rs"));

#[tokio::main]
async fn main() {
    let daemon = armature_client::testing::Daemon::start().expect("a daemon");
    guide(daemon.address().to_owned()).await.expect("the guide works");
    println!("the guide's code runs");
}

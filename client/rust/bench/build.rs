//! Makes the raw stub, as a program without the client would.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let protos = "../../../proto";
    println!("cargo::rerun-if-changed={protos}");
    tonic_prost_build::configure()
        .build_server(false)
        .compile_protos(&[format!("{protos}/armature/api/v1/service.proto")], &[protos.to_owned()])?;
    Ok(())
}

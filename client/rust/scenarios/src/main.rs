//! Runs tests/clients/scenarios by the Rust client.
//!
//!     armature-client-scenarios DIRECTORY [TEXT]
//!
//! The variable ARMATURED has the path of the daemon. TEXT selects scenarios whose name has it.
mod expressions;
mod failures;
mod operations;
mod reads;
mod values;
mod world;

use std::collections::{HashMap, VecDeque};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use armature_client::{Client, Error, Value};
use serde_yaml_ng::Value as Yaml;

use failures::check_error;
use operations::{create_table, Operations};
use values::{entries, has, is_true, list, member, native, number, same, text, texts, Failure};
use world::{seconds, Place, World};

/// The time that a step with `until` may take.
pub const UNTIL_TIME: Duration = Duration::from_secs(20);
/// Members of a step that are not its operation.
const STEP_MEMBERS: [&str; 7] = ["with", "timeout", "expect", "unordered", "error", "repeat", "until"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (directory, selected) = match &arguments[..] {
        [directory] => (directory, ""),
        [directory, selected] => (directory, selected.as_str()),
        _ => panic!("usage: armature-client-scenarios DIRECTORY [TEXT]"),
    };
    let (tables, scenarios) = load(Path::new(directory));
    let world = World::new(PathBuf::from(directory), tables);
    let chosen = scenarios.into_iter().filter(|scenario| text(scenario, "name").contains(selected));
    let (own, shared): (VecDeque<Yaml>, VecDeque<Yaml>) = chosen.partition(|scenario| has(scenario, "daemon"));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let results = Mutex::new((0, 0));
    let (own, shared) = (Mutex::new(own), Mutex::new(shared));
    // Scenarios with daemons of their own run beside the others: they mostly wait.
    std::thread::scope(|scope| {
        for queue in [&shared, &own, &own] {
            scope.spawn(|| run_each(&world, queue, &runtime, &results));
        }
    });
    let (passed, failed) = results.into_inner().expect("no panic with the lock");
    println!("{passed} passed, {failed} failed");
    drop(world);
    std::process::exit(i32::from(failed > 0 || passed == 0));
}

fn load(directory: &Path) -> (Yaml, Vec<Yaml>) {
    let (mut tables, mut all) = (Yaml::Null, Vec::new());
    for entry in std::fs::read_dir(directory).expect("the directory of the scenarios") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let content = std::fs::read_to_string(&path).expect("a file");
        let parsed: Yaml =
            serde_yaml_ng::from_str(&content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        match parsed {
            Yaml::Sequence(scenarios) => all.extend(scenarios),
            definitions => tables = definitions,
        }
    }
    all.sort_by_key(|scenario| text(scenario, "name"));
    (tables, all)
}

fn run_each(
    world: &World,
    queue: &Mutex<VecDeque<Yaml>>,
    runtime: &tokio::runtime::Runtime,
    results: &Mutex<(u32, u32)>,
) {
    let mut shared = None;
    loop {
        let Some(scenario) = queue.lock().expect("no panic with the lock").pop_front() else { return };
        // A panic is an operation that the runner does not know, or a form of it.
        let run = AssertUnwindSafe(|| runtime.block_on(run(world, &scenario, &mut shared)));
        let result = catch_unwind(run).unwrap_or_else(|_| Err("panicked".into()));
        let mut results = results.lock().expect("no panic with the lock");
        match result {
            Ok(()) => results.0 += 1,
            Err(failure) => {
                shared = None; // its tables are left
                results.1 += 1;
                println!("failed: {}: {failure}", text(&scenario, "name"));
            }
        }
    }
}

/// Executes one scenario.
async fn run<'a>(world: &'a World, scenario: &Yaml, shared: &mut Option<Place<'a>>) -> Result<(), Failure> {
    let mut own = has(scenario, "daemon").then(|| Place::new(world, member(scenario, "daemon")));
    let place = match &mut own {
        Some(place) => place,
        None => shared.get_or_insert_with(|| Place::new(world, &Yaml::Null)),
    };
    let owner = place.owner();
    let mut clients = HashMap::new();
    clients.insert("default", place.open(&Yaml::Null).map_err(told)?);
    for (name, options) in entries(member(scenario, "clients")) {
        clients.insert(name, place.open(options).map_err(told)?);
    }
    for table in texts(member(scenario, "tables")) {
        create_table(&owner, &table, member(&world.tables, &table)).await.map_err(told)?;
    }
    let mut operations = Operations::new(&world.tables);
    for (at, step) in list(scenario, "steps").iter().enumerate() {
        for _ in 0..number(step, "repeat").unwrap_or(1) {
            let done = do_step(place, &clients, &mut operations, step).await;
            done.map_err(|failure| format!("step {}: {failure}", at + 1))?;
        }
    }
    drop(operations);
    if own.is_none() {
        for table in owner.list_tables().await.map_err(told)? {
            owner.delete_table(&table).await.map_err(told)?;
        }
    }
    Ok(())
}

fn told(error: Error) -> Failure {
    error.to_string()
}

async fn do_step(
    place: &mut Place<'_>,
    clients: &HashMap<&str, Client>,
    operations: &mut Operations<'_>,
    step: &Yaml,
) -> Result<(), Failure> {
    let mut kinds = entries(step).filter(|(kind, _)| !STEP_MEMBERS.contains(kind));
    let (kind, given) = kinds.next().ok_or("the step has no operation")?;
    match kind {
        "daemon" => place.daemon_step(given.as_str().expect("a command")),
        "proxy" => place.proxy_step(given),
        "connect" => match place.open(given) {
            Ok(_) if has(step, "error") => Err("the client was made".into()),
            Ok(_) => Ok(()),
            Err(error) if has(step, "error") => check_error(&error, member(step, "error")),
            Err(error) => Err(error.to_string()),
        },
        _ => {
            let client = &clients[member(step, "with").as_str().unwrap_or("default")];
            call(client, operations, kind, given, step).await
        }
    }
}

/// Makes a call and compares its result.
async fn call(
    client: &Client,
    operations: &mut Operations<'_>,
    kind: &str,
    given: &Yaml,
    step: &Yaml,
) -> Result<(), Failure> {
    let timeout = has(step, "timeout").then(|| seconds(member(step, "timeout")));
    let begin = Instant::now();
    loop {
        let result = operations.call(client, kind, given, timeout).await;
        match compare(result, step) {
            Err(failure) if !is_true(step, "until") || begin.elapsed() > UNTIL_TIME => {
                return Err(format!("{kind}: {failure}"));
            }
            Err(_) => {}
            Ok(()) => return Ok(()),
        }
    }
}

fn compare(result: Result<Value, Error>, step: &Yaml) -> Result<(), Failure> {
    let wanted = member(step, "error");
    match result {
        Ok(result) if !wanted.is_null() => Err(format!("the result {result} instead of the error {wanted:?}")),
        Err(error) if !wanted.is_null() => check_error(&error, wanted),
        Err(error) => Err(format!("{error}")),
        Ok(result) => {
            let expected = native(member(step, "expect"));
            if !has(step, "expect") || same(&result, &expected, is_true(step, "unordered")) {
                return Ok(());
            }
            Err(format!("the result {result} instead of {expected}"))
        }
    }
}

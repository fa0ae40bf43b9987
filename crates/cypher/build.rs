//! Makes the parser of `src/syntax/grammar.lalrpop`.

fn main() {
    println!("cargo:rerun-if-changed=src/syntax/grammar.lalrpop");
    lalrpop::Configuration::new()
        .emit_rerun_directives(true)
        .process_dir("src")
        .expect("the grammar is valid");
}

//! Tables.

use super::*;

#[test]
fn zz_oracle() {
    let Ok(path) = std::env::var("CEL_ORACLE") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    for line in text.lines() {
        let json: serde_json::Value = serde_json::from_str(line).unwrap();
        let scope = if json["env"] == "user" { Scope::User } else { Scope::Claims };
        let expr = json["expr"].as_str().unwrap();
        let ours = match Program::compile(expr, scope) {
            Ok(program) => serde_json::json!({"type": program.result()}),
            Err(CelError::Wrong(why)) => serde_json::json!({"error": why}),
            Err(CelError::NotVerifiable(why)) => serde_json::json!({"nv": why}),
        };
        println!("ORACLE {}", serde_json::json!({"ours": ours, "theirs": json}));
    }
}

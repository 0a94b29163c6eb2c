//! What a token file may hold, and where it may be.

use std::os::unix::fs::PermissionsExt as _;

use super::super::token;
use super::*;

#[tokio::test]
async fn a_file_without_a_token_is_reported_and_nothing_is_sent() {
    let good = Given::new().token();
    let cases: Vec<(&str, Vec<u8>, Option<&str>)> = vec![
        ("a token", good.clone().into_bytes(), None),
        ("a line break at the end", format!("{good}\n").into_bytes(), None),
        ("blanks around it", format!(" \t{good} \r\n").into_bytes(), None),
        ("empty", Vec::new(), Some("token-file-empty")),
        ("blanks alone", b" \n".to_vec(), Some("token-file-empty")),
        ("not UTF-8", vec![0xff, 0xfe], Some("token-not-text")),
        ("two parts", b"a.b".to_vec(), Some("token-malformed")),
        ("four parts", b"a.b.c.d".to_vec(), Some("token-malformed")),
        ("an empty part", b"a..c".to_vec(), Some("token-malformed")),
        ("log text behind it", format!("{good}\nI1116 refreshed").into_bytes(), Some("token-malformed")),
        ("two tokens", format!("{good}\n{good}").into_bytes(), Some("token-malformed")),
        ("far too long", vec![b'a'; 30_000], Some("token-malformed")),
    ];
    for (case, content, expected) in cases {
        let given = Given::new();
        std::fs::write(given.token_file(), content).unwrap();
        let exchanged = given.aws.exchange(&given.identity(), &region("us-east-1")).await;
        let error = exchanged.err();
        assert_eq!(error.as_ref().map(|error| error.code.as_str()), expected, "case: {case}");
        assert!(error.as_ref().is_none_or(|error| error.class == Class::TokenUnreadable), "case: {case}");
        let sent = given.actions().len();
        assert_eq!(sent, usize::from(expected.is_none()), "case: {case}");
    }
}

#[tokio::test]
async fn an_unusable_token_path_is_reported_with_its_remedy() {
    let given = Given::new();
    let forbidden = given.folder.path().join("forbidden");
    std::fs::write(&forbidden, given.token()).unwrap();
    std::fs::set_permissions(&forbidden, std::fs::Permissions::from_mode(0o000)).unwrap();
    let cases = [
        ("relative", PathBuf::from("token"), "token-path-relative"),
        ("missing", given.folder.path().join("none"), "token-file-missing"),
        ("a folder", given.folder.path().to_owned(), "token-file-unreadable"),
    ];
    for (case, path, expected) in cases {
        let error = token::read(&path).await.err().unwrap();
        assert_eq!((error.class, error.code.as_str()), (Class::TokenUnreadable, expected), "case: {case}");
        assert!(!error.remedy.is_empty(), "case: {case}");
    }
    // Root reads everything.
    if let Err(error) = token::read(&forbidden).await {
        assert_eq!(error.code, "token-file-forbidden");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_is_read_again_for_each_exchange_over_the_link_the_kubelet_swaps() {
    let given = Given::new();
    let (first, second) = (given.folder.path().join("first"), given.folder.path().join("second"));
    std::fs::write(&first, "not.a.token").unwrap();
    std::fs::write(&second, given.token()).unwrap();
    std::fs::remove_file(given.token_file()).unwrap();
    std::os::unix::fs::symlink(&first, given.token_file()).unwrap();
    let identity = given.identity();
    assert_eq!(given.aws.exchange(&identity, &region("us-east-1")).await.unwrap_err().code, "InvalidIdentityToken");
    let swapped = given.folder.path().join("swapped");
    std::os::unix::fs::symlink(&second, &swapped).unwrap();
    std::fs::rename(&swapped, given.token_file()).unwrap();
    assert!(given.aws.exchange(&identity, &region("us-east-1")).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_is_shown_by_its_claims_and_never_itself() {
    let given = Given::new();
    let later = given.now().checked_add(Duration::from_secs(60)).unwrap();
    let before = given.now().checked_sub(Duration::from_secs(60)).unwrap();
    let cases = [
        ("another audience", given.sim.mint_token(ISSUER, "sts.amazonaws.com", SUBJECT, later), "InvalidIdentityToken"),
        ("another issuer", given.sim.mint_token("https://else", AUDIENCE, SUBJECT, later), "InvalidIdentityToken"),
        ("another subject", given.sim.mint_token(ISSUER, AUDIENCE, "nobody", later), "AccessDenied"),
        ("past its time", given.sim.mint_token(ISSUER, AUDIENCE, SUBJECT, before), "ExpiredTokenException"),
    ];
    for (case, token, expected) in cases {
        given.write_token(&token);
        let error = given.aws.exchange(&given.identity(), &region("us-east-1")).await.unwrap_err();
        assert_eq!((error.class, error.code.as_str()), (Class::Denied, expected), "case: {case}");
        let claims = token::parse(token.as_bytes()).unwrap_or_else(|_| panic!("case: {case}")).claims;
        assert!(error.message.contains(&claims.line()), "case: {case}: {}", error.message);
        let signature = token.rsplit('.').next().unwrap();
        assert!(!format!("{error:?}").contains(signature), "case: {case}");
    }
}

#[tokio::test]
async fn a_role_of_another_partition_is_refused_before_anything_is_sent() {
    let given = Given::new();
    let error = given.aws.exchange(&given.identity(), &region("us-gov-west-1")).await.unwrap_err();
    assert_eq!((error.class, error.code.as_str()), (Class::Denied, "role-partition"));
    assert_eq!(given.actions(), Vec::<String>::new());
}

#[test]
fn a_role_is_an_arn_of_a_role() {
    let cases = [
        ("a role", "arn:aws:iam::123456789012:role/x", true),
        ("GovCloud, with a path", "arn:aws-us-gov:iam::123456789012:role/a/b", true),
        ("a line break behind", "arn:aws:iam::123456789012:role/x\n", true),
        ("a user", "arn:aws:iam::123456789012:user/x", false),
        ("an assumed role", "arn:aws:sts::123456789012:assumed-role/x/y", false),
        ("no account", "arn:aws:iam:::role/x", false),
        ("no name", "arn:aws:iam::123456789012:role/", false),
        ("a name alone", "x", false),
        ("another cloud", "arn:azure:iam::123456789012:role/x", false),
    ];
    for (case, text, expected) in cases {
        assert_eq!(RoleArn::parse(text).is_ok(), expected, "case: {case}");
    }
}

#[test]
fn a_session_name_is_made_fit() {
    let named = |name: &str| {
        let env = Variables::new([("AWS_ROLE_SESSION_NAME", name)]);
        WebIdentity::new(RoleArn::parse(ROLE).unwrap(), "/t", &env).session_name
    };
    let cases = [
        ("as it is", "me@host".to_owned(), "me@host".to_owned()),
        ("letters nobody takes", "a b/c".to_owned(), "a-b-c".to_owned()),
        ("too long", "x".repeat(70), "x".repeat(64)),
        ("too short", "x".to_owned(), "trueup".to_owned()),
        ("empty is unset", String::new(), "trueup".to_owned()),
    ];
    for (case, name, expected) in cases {
        assert_eq!(named(&name), expected, "case: {case}");
    }
}

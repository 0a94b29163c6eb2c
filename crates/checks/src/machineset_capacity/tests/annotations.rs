//! Rule 9: what the annotations say, beside what they should.

use serde_json::json;

use super::*;

const DRIFT: &str = "drift → annotate selected differs";
const DISAGREE: &str = "keys-disagree → annotate selected differs";

fn cap(key: &str) -> String {
    format!("capacity.cluster-autoscaler.kubernetes.io/{key}")
}

/// A machine with GPUs, annotated as it should be.
fn with_gpus() -> Given {
    given()
        .provider("instanceType", json!("g4dn.xlarge"))
        .catalogue(json!({ "name": "g4dn.xlarge", "vcpu": 4, "memory_mib": 16384, "gpus": [gpu("NVIDIA", 1, 1)], "architectures": ["x86_64"] }))
        .annotated(4, 16384, 1, "amd64")
        .with(json!({ cap("gpu-count"): "1", cap("gpu-type"): "nvidia.com/gpu" }))
}

#[test]
fn values_are_compared_and_not_spellings() {
    each(
        WORKERS,
        [
            ("as we write it", given(), "match"),
            ("gibibytes", given().with(json!({ cap("memory"): "128Gi" })), "match"),
            ("bytes, as OpenShift copies them", given().with(json!({ cap("memory"): "137438953472" })), "match"),
            ("thousandths", given().with(json!({ cap("cpu"): "32000m" })), "match"),
            ("a count with a zero before it", given().with(json!({ "machine.openshift.io/vCPU": "032" })), "match"),
            ("mebibytes without a unit", given().with(json!({ cap("memory"): "131072" })), DISAGREE),
            ("no number", given().with(json!({ cap("cpu"): "many" })), DISAGREE),
            ("an empty value", given().with(json!({ cap("cpu"): "" })), DISAGREE),
            ("a quantity for a count", given().with(json!({ "machine.openshift.io/memoryMb": "128Gi" })), DISAGREE),
            (
                "labels in another order",
                given().with(json!({ cap("labels"): "z=1,kubernetes.io/arch=amd64,a=" })),
                "match",
            ),
            ("a label with a space", given().with(json!({ cap("labels"): "a=1, kubernetes.io/arch=amd64" })), DRIFT),
            (
                "an entry that is no label",
                given().with(json!({ cap("labels"): "x,kubernetes.io/arch=amd64" })),
                "match",
            ),
        ],
    );
}

#[test]
fn absent_disagreeing_and_drifting_annotations_have_their_own_verdicts() {
    let only = |annotations: Value| given().bare().with(annotations);
    each(
        WORKERS,
        [
            ("nothing", given().bare(), "missing → annotate selected missing"),
            (
                "labels alone",
                only(json!({ cap("labels"): "kubernetes.io/arch=amd64" })),
                "missing → annotate selected missing",
            ),
            (
                "nothing but no GPUs",
                only(json!({ cap("gpu-count"): "0", cap("gpu-type"): "" })),
                "missing → annotate selected missing",
            ),
            ("foreign annotations alone", only(json!({ "a": "b" })), "missing → annotate selected missing"),
            (
                "the deprecated family alone",
                only(machine(32, 131_072, 0)),
                "drift family-absent → annotate selected differs",
            ),
            (
                "the deprecated family and labels, as upstream leaves them",
                only(machine(32, 131_072, 0)).with(json!({ cap("labels"): "kubernetes.io/arch=amd64" })),
                "drift family-absent → annotate selected differs",
            ),
            (
                "the other family alone",
                only(capacity(32, 131_072, "amd64")),
                "drift family-absent → annotate selected differs",
            ),
            ("a stale family alone", only(machine(2, 8192, 0)), "drift family-absent → annotate selected differs"),
            ("stale copies beside fresh keys", given().with(capacity(16, 65_536, "amd64")), DISAGREE),
            ("stale deprecated keys", given().with(machine(16, 65_536, 0)), DISAGREE),
            ("both stale", given().annotated(16, 65_536, 0, "amd64"), DRIFT),
            ("one value of one family", given().with(json!({ cap("cpu"): "16" })), DISAGREE),
            ("one value is not there", given().with(json!({ cap("cpu"): null })), DRIFT),
            ("one value of each", given().with(json!({ cap("cpu"): "16", "machine.openshift.io/vCPU": "16" })), DRIFT),
            ("labels alone", given().with(json!({ cap("labels"): "kubernetes.io/arch=arm64" })), DRIFT),
            ("labels are not there", given().with(json!({ cap("labels"): null })), DRIFT),
            ("no word about GPUs", given().with(json!({ "machine.openshift.io/GPU": null })), DRIFT),
        ],
    );
}

#[test]
fn gpus_are_counted_and_called_by_their_makers() {
    let typed = |gpus: Value, count: u64| {
        given()
            .provider("instanceType", json!("x.large"))
            .catalogue(
                json!({ "name": "x.large", "vcpu": 4, "memory_mib": 16384, "gpus": gpus, "architectures": ["x86_64"] }),
            )
            .annotated(4, 16384, count, "amd64")
    };
    let count = |number: &str| json!({ cap("gpu-count"): number });
    let kind = |word: &str| json!({ cap("gpu-type"): word });
    each(
        WORKERS,
        [
            ("as it should be", with_gpus(), "match"),
            ("no type", with_gpus().with(json!({ cap("gpu-type"): null })), DRIFT),
            ("another type", with_gpus().with(kind("amd.com/gpu")), DISAGREE),
            ("none counted", with_gpus().with(count("0")), DISAGREE),
            ("AMD", typed(json!([gpu("AMD", 1, 1)]), 1).with(count("1")).with(kind("amd.com/gpu")), "match"),
            (
                "two sorts",
                typed(json!([gpu("NVIDIA", 1, 1), gpu("NVIDIA", 3, 3)]), 4)
                    .with(count("4"))
                    .with(kind("nvidia.com/gpu")),
                "match",
            ),
            ("another maker", typed(json!([gpu("Habana", 8, 8)]), 8).with(count("8")), "match gpu-vendor-unknown"),
            (
                "another maker, with a type somebody knows",
                typed(json!([gpu("Habana", 8, 8)]), 8).with(count("8")).with(kind("habana.ai/gaudi")),
                "match gpu-vendor-unknown",
            ),
            ("a part of one", typed(json!([gpu("NVIDIA", 0, 1)]), 0), "match fractional-gpu"),
            ("none", typed(json!([]), 0), "match"),
            ("none, said as OpenShift says it", typed(json!([]), 0).with(count("0")).with(kind("")), "match"),
            ("none, and a count", typed(json!([]), 0).with(count("4")), DISAGREE),
            ("none, and a type", typed(json!([]), 0).with(kind("nvidia.com/gpu")), DISAGREE),
        ],
    );
}

#[test]
fn a_change_holds_what_changes_and_nothing_else() {
    let whole = json!({
        "machine.openshift.io/vCPU": "32", "machine.openshift.io/memoryMb": "131072", "machine.openshift.io/GPU": "0",
        cap("cpu"): "32", cap("memory"): "131072Mi", cap("labels"): "kubernetes.io/arch=amd64",
    });
    let gpu_whole = json!({
        "machine.openshift.io/vCPU": "4", "machine.openshift.io/memoryMb": "16384", "machine.openshift.io/GPU": "1",
        cap("cpu"): "4", cap("memory"): "16384Mi", cap("labels"): "kubernetes.io/arch=amd64",
        cap("gpu-count"): "1", cap("gpu-type"): "nvidia.com/gpu",
    });
    let cases = [
        ("all of it", given().bare(), json!({ "set": whole, "remove": [] })),
        ("all of it, with GPUs", with_gpus().bare(), json!({ "set": gpu_whole, "remove": [] })),
        ("one value", given().with(json!({ cap("cpu"): "16" })), json!({ "set": { cap("cpu"): "32" }, "remove": [] })),
        (
            "labels are kept, sorted, and the architecture is ours",
            given().with(json!({ cap("labels"): "z=1,kubernetes.io/arch=arm64,a=" })),
            json!({ "set": { cap("labels"): "a=,kubernetes.io/arch=amd64,z=1" }, "remove": [] }),
        ),
        (
            "unexpected annotations are removed",
            given().with(json!({ cap("gpu-count"): "4", cap("gpu-type"): "nvidia.com/gpu" })),
            json!({ "set": {}, "remove": [cap("gpu-count"), cap("gpu-type")] }),
        ),
        (
            "what counts as absent stays",
            given().with(json!({ cap("gpu-count"): "0", cap("gpu-type"): "nvidia.com/gpu" })),
            json!({ "set": {}, "remove": [cap("gpu-type")] }),
        ),
    ];
    for (case, given, expected) in cases {
        assert_eq!(given.change(WORKERS), expected, "case: {case}");
    }
}

#[test]
fn taints_that_only_the_template_knows_are_worth_a_word_and_no_more() {
    let taints =
        json!([{ "key": "gpu", "value": "yes", "effect": "NoSchedule" }, { "key": "a", "effect": "NoExecute" }]);
    let tainted = given().workers("spec.template.spec.taints", taints);
    let message = |given: &Given| {
        let judged = given.judged();
        let all = &judged.find(WORKERS).unwrap().explanation.evidence;
        all.iter().any(|line| line.message.contains("a:NoExecute,gpu=yes:NoSchedule"))
    };
    assert_eq!(tainted.about(WORKERS), "match");
    assert!(message(&tainted));
    assert!(!message(&tainted.with(json!({ cap("taints"): "a:NoExecute,gpu=yes:NoSchedule" }))), "already said");
}

//! What a delete carries, read off the request itself: the simulated server accepts less.

use super::*;
use http_body_util::BodyExt as _;
use kube::client::Body;
use trueup_core::engine::executor::DryRunPort as _;

/// The simulated cluster, with the bodies of deletes kept.
fn recording(sim: &SimCluster) -> (KubeCluster, Arc<Mutex<Vec<Value>>>) {
    let (bodies, server) = (Arc::new(Mutex::new(Vec::new())), sim.client());
    let kept = bodies.clone();
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let (server, kept) = (server.clone(), kept.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes().to_vec();
            if head.method == http::Method::DELETE {
                kept.lock().unwrap().push(serde_json::from_slice::<Value>(&body)?);
            }
            let answer = server.send(http::Request::from_parts(head, Body::from(body))).await?;
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(answer)
        }
    });
    (KubeCluster::new(kube::Client::new(service, "default")), bodies)
}

#[tokio::test(start_paused = true)]
async fn a_delete_names_the_uid_and_the_version_of_its_object() {
    let stage = stage(&["a"]);
    let target = &stage.plan.actions[0].target;
    let (cluster, bodies) = recording(&stage.sim);
    cluster.dry_run(Write::Delete { target, uid: "3f0c", resource_version: "812" }).await;
    let bodies = bodies.lock().unwrap();
    assert_eq!(bodies.len(), 1, "one request");
    assert_eq!(bodies[0]["preconditions"], json!({ "uid": "3f0c", "resourceVersion": "812" }));
    assert_eq!(bodies[0]["propagationPolicy"], "Background");
}

//! Every name this check knows: annotations, variables, keys, resources.

use crate::kinds::core;
pub use crate::kinds::{
    AUTHENTICATION, AWS_CLUSTER, AWS_MACHINE_TEMPLATE as TEMPLATE, AWS_MANAGED_CONTROL_PLANE as MANAGED_PLANE,
    CAPI_MACHINE_SET as CAPI_SET, CLUSTER, INFRASTRUCTURE, MACHINE_DEPLOYMENT as DEPLOYMENT, MACHINE_SET,
    PAUSED_ANNOTATION, REGION_ANNOTATION, SECRET, SINGLETON,
};
use trueup_core::world::Resource;

/// The keys OpenShift's own autoscaler still reads, though it calls them deprecated.
pub const MACHINE_CPU: &str = "machine.openshift.io/vCPU";
/// Mebibytes, whatever its name says.
pub const MACHINE_MEMORY: &str = "machine.openshift.io/memoryMb";
pub const MACHINE_GPU: &str = "machine.openshift.io/GPU";

/// The keys every autoscaler reads; where both families are there, these win.
pub const CAPACITY_CPU: &str = "capacity.cluster-autoscaler.kubernetes.io/cpu";
pub const CAPACITY_MEMORY: &str = "capacity.cluster-autoscaler.kubernetes.io/memory";
pub const CAPACITY_GPU_COUNT: &str = "capacity.cluster-autoscaler.kubernetes.io/gpu-count";
pub const CAPACITY_GPU_TYPE: &str = "capacity.cluster-autoscaler.kubernetes.io/gpu-type";
pub const CAPACITY_LABELS: &str = "capacity.cluster-autoscaler.kubernetes.io/labels";
pub const CAPACITY_TAINTS: &str = "capacity.cluster-autoscaler.kubernetes.io/taints";

/// The annotations that are looked at.
pub const ANNOTATIONS: [&str; 9] = [
    MACHINE_CPU,
    MACHINE_MEMORY,
    MACHINE_GPU,
    CAPACITY_CPU,
    CAPACITY_MEMORY,
    CAPACITY_GPU_COUNT,
    CAPACITY_GPU_TYPE,
    CAPACITY_LABELS,
    CAPACITY_TAINTS,
];

/// The label that says which machines a pod's image runs on.
pub const ARCH_LABEL: &str = "kubernetes.io/arch";
/// The condition by which a migrating MachineSet, and a paused one of Cluster API, says that it is paused.
pub const PAUSED_CONDITION: &str = "Paused";
/// The one value of `status.authoritativeAPI` under which the Machine API's annotations count.
pub const MACHINE_API: &str = "MachineAPI";
/// What a provider spec for AWS calls itself.
pub const AWS_PROVIDER_KIND: &str = "AWSMachineProviderConfig";
/// AWS as an Infrastructure spells it.
pub const AWS_PLATFORM: &str = "AWS";

/// Both are set where a pod exchanges its service account's token for a role.
pub const ROLE_ARN: &str = "AWS_ROLE_ARN";
pub const TOKEN_FILE: &str = "AWS_WEB_IDENTITY_TOKEN_FILE";
/// The role the EKS webhook gives the pods of a ServiceAccount.
pub const ROLE_ANNOTATION: &str = "eks.amazonaws.com/role-arn";
/// Where the API server mounts the default token of a ServiceAccount.
pub const DEFAULT_TOKENS: &str = "/var/run/secrets/kubernetes.io/serviceaccount/";
/// Both are set instead where EKS Pod Identity is configured.
pub const CONTAINER_URI: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
pub const CONTAINER_TOKEN_FILE: &str = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";

/// A shared credentials file as text.
pub const CREDENTIALS: &str = "credentials";
pub const ACCESS_KEY_ID: &str = "aws_access_key_id";
pub const SECRET_ACCESS_KEY: &str = "aws_secret_access_key";

pub const POD: Resource = core("Pod", "pods");
pub const SERVICE_ACCOUNT: Resource = core("ServiceAccount", "serviceaccounts");
/// Of those who annotate; sets of machines are [`DEPLOYMENT`]s of another group.
pub const WORKLOAD: Resource =
    Resource { group: "apps", version: "v1", kind: "Deployment", plural: "deployments", namespaced: true };
/// Stands before an [`AWSManagedControlPlane`](MANAGED_PLANE) and has no region of its own.
pub const MANAGED_CLUSTER_KIND: &str = "AWSManagedCluster";

/// What an AWS account offers, a namespace a region.
pub const INSTANCE_TYPE: Resource = Resource {
    group: "aws.cloud.trueup",
    version: "v1",
    kind: "InstanceType",
    plural: "instancetypes",
    namespaced: true,
};
/// How asking an account went, a namespace a region.
pub const LOOKUP: Resource =
    Resource { group: "aws.cloud.trueup", version: "v1", kind: "Lookup", plural: "lookups", namespaced: true };
/// The variables the annotating process sees.
pub const ENVIRONMENT: Resource = Resource {
    group: "aws.cloud.trueup",
    version: "v1",
    kind: "Environment",
    plural: "environments",
    namespaced: false,
};

//! Every name this check knows: annotations, variables, keys, resources.

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
/// Controllers shall leave the object alone.
pub const PAUSED_ANNOTATION: &str = "cluster.x-k8s.io/paused";
/// The region, where no infrastructure object says it.
pub const REGION_ANNOTATION: &str = "capa.infrastructure.cluster.x-k8s.io/region";
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
/// Both are set instead where EKS Pod Identity is configured.
pub const CONTAINER_URI: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
pub const CONTAINER_TOKEN_FILE: &str = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";

/// A shared credentials file as text.
pub const CREDENTIALS: &str = "credentials";
pub const ACCESS_KEY_ID: &str = "aws_access_key_id";
pub const SECRET_ACCESS_KEY: &str = "aws_secret_access_key";

pub const SECRET: Resource = Resource { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true };
pub const POD: Resource = Resource { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };
/// Of those who annotate; sets of machines are [`DEPLOYMENT`]s of another group.
pub const WORKLOAD: Resource =
    Resource { group: "apps", version: "v1", kind: "Deployment", plural: "deployments", namespaced: true };
pub const INFRASTRUCTURE: Resource = Resource {
    group: "config.openshift.io",
    version: "v1",
    kind: "Infrastructure",
    plural: "infrastructures",
    namespaced: false,
};
pub const MACHINE_SET: Resource = Resource {
    group: "machine.openshift.io",
    version: "v1beta1",
    kind: "MachineSet",
    plural: "machinesets",
    namespaced: true,
};

/// # Limits
/// Cluster API's own kinds are asked for in the version that every release since 1.0 serves, the AWS provider's in the
/// only one its releases serve now. A folder may hold either.
pub const DEPLOYMENT: Resource = Resource {
    group: "cluster.x-k8s.io",
    version: "v1beta1",
    kind: "MachineDeployment",
    plural: "machinedeployments",
    namespaced: true,
};
pub const CAPI_SET: Resource = Resource {
    group: "cluster.x-k8s.io",
    version: "v1beta1",
    kind: "MachineSet",
    plural: "machinesets",
    namespaced: true,
};
pub const CLUSTER: Resource =
    Resource { group: "cluster.x-k8s.io", version: "v1beta1", kind: "Cluster", plural: "clusters", namespaced: true };
pub const TEMPLATE: Resource = Resource {
    group: "infrastructure.cluster.x-k8s.io",
    version: "v1beta2",
    kind: "AWSMachineTemplate",
    plural: "awsmachinetemplates",
    namespaced: true,
};
pub const AWS_CLUSTER: Resource = Resource {
    group: "infrastructure.cluster.x-k8s.io",
    version: "v1beta2",
    kind: "AWSCluster",
    plural: "awsclusters",
    namespaced: true,
};
pub const MANAGED_PLANE: Resource = Resource {
    group: "controlplane.cluster.x-k8s.io",
    version: "v1beta2",
    kind: "AWSManagedControlPlane",
    plural: "awsmanagedcontrolplanes",
    namespaced: true,
};
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

"""IBM's own Python clients against the simulated account.

    suite.py URL API_KEY

Each check is a function; each call of a client is counted. The last line is JSON: {"calls": N, "failures": [...]}.
"""

import json
import sys
import time
import traceback

import ibm_boto3
from ibm_botocore.client import Config
from ibm_cloud_networking_services import TransitGatewayApisV1
from ibm_cloud_networking_services.transit_gateway_apis_v1 import (
    ConnectionsPager,
    TransitGatewayConnectionsPager,
    TransitGatewaysPager,
)
from ibm_cloud_sdk_core import ApiException
from ibm_cloud_sdk_core.authenticators import IAMAuthenticator
from ibm_platform_services import GlobalSearchV2, GlobalTaggingV1, ResourceControllerV2, ResourceManagerV2
from ibm_platform_services.resource_controller_v2 import ResourceInstancesPager
from ibm_vpc import VpcV1
from ibm_vpc.vpc_v1 import LoadBalancersPager, SecurityGroupsPager, SubnetsPager, VpcsPager

URL, KEY = sys.argv[1], sys.argv[2]
POWER = "abd259f0-9990-11e8-acc8-b9f54a8f1661"
POWER_PLAN = "f165dd34-3a40-423b-9d95-e90a23f724dd"
COS = "dff97f5c-bc5e-4455-b470-411c3edbe49c"
COS_PLAN = "1e4e33e4-cfa6-4f12-9016-be594a6d5f87"
# Search is behind by 20 s, the slowest deletion takes 8 s.
GONE_MAX = 60

calls = 0


def counted(client):
    """Counts what a client sends."""
    inner = client.send

    def send(request, **options):
        global calls
        calls += 1
        return inner(request, **options)

    client.send = send
    return client


authenticator = IAMAuthenticator(KEY, url=URL)


def platform(kind):
    client = kind(authenticator=authenticator)
    client.set_service_url(URL)
    return counted(client)


def versioned(kind):
    client = kind(version="2026-06-01", authenticator=authenticator)
    client.set_service_url(URL + "/v1")
    return counted(client)


tagging, search = platform(GlobalTaggingV1), platform(GlobalSearchV2)
instances, groups = platform(ResourceControllerV2), platform(ResourceManagerV2)
vpc, transit = versioned(VpcV1), versioned(TransitGatewayApisV1)


def result(response):
    return response.get_result()


def refused(status, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except ApiException as error:
        assert error.status_code == status, f"{error.status_code} {error.message}"
        assert error.message, "a refusal has a message"
        return error.message
    raise AssertionError(f"{call.__name__} was not refused")


def gone(call, *arguments, **options):
    """Waits until a GET says 404."""
    for _ in range(GONE_MAX):
        try:
            call(*arguments, **options)
        except ApiException as error:
            assert error.status_code == 404, error
            return
        time.sleep(1)
    raise AssertionError(f"{call.__name__} {arguments} is still there")


def tags_of(crn):
    listed = result(tagging.list_tags(tag_type="user", attached_to=crn, providers=["ghost"], limit=100))
    return sorted(item["name"] for item in listed["items"])


def attach(crn, names, **options):
    done = result(tagging.attach_tag(resources=[{"resource_id": crn}], tag_names=names, tag_type="user", **options))
    return done["results"][0]


def check_wrong_key():
    client = GlobalTaggingV1(authenticator=IAMAuthenticator("no-such-key", url=URL))
    client.set_service_url(URL)
    assert "API key could not be found" in refused(400, counted(client).list_tags)


def check_vpc_pages():
    for pager, plural in [
        (VpcsPager, "vpcs"),
        (SubnetsPager, "subnets"),
        (SecurityGroupsPager, "security_groups"),
        (LoadBalancersPager, "load_balancers"),
    ]:
        whole = result(getattr(vpc, f"list_{plural}")(limit=100))[plural]
        paged = pager(client=vpc, limit=1).get_all()
        assert [one["id"] for one in whole] == [one["id"] for one in paged], plural
        assert len(paged) >= 3, plural
        for one in whole:
            read = result(getattr(vpc, f"get_{plural[:-1]}")(id=one["id"]))
            assert read == one, plural


def check_vpc_filters():
    harbor = next(one for one in result(vpc.list_vpcs(limit=100))["vpcs"] if one["name"] == "harbor-vpc")
    inside = result(vpc.list_security_groups(vpc_id=harbor["id"]))["security_groups"]
    assert [one["name"] for one in inside] == ["harbor-sg"], inside
    assert result(vpc.list_regions())["regions"]


def check_vpc_errors():
    for read in [vpc.get_vpc, vpc.get_subnet, vpc.get_security_group, vpc.get_load_balancer]:
        assert "can't be found" in refused(404, read, id="r006-nowhere")
    harbor = next(one for one in result(vpc.list_vpcs(limit=100))["vpcs"] if one["name"] == "harbor-vpc")
    assert "still holds" in refused(409, vpc.delete_vpc, id=harbor["id"])


def check_vpc_life():
    made = result(vpc.create_vpc(name="sdk-vpc"))
    assert made["status"] == "available" and made["crn"].endswith(made["id"])
    refused(409, vpc.create_vpc, name="sdk-vpc")
    renamed = result(vpc.update_vpc(id=made["id"], vpc_patch={"name": "sdk-vpc-2"}))
    assert renamed["name"] == "sdk-vpc-2"
    subnet = result(
        vpc.create_subnet(
            {"name": "sdk-subnet", "vpc": {"id": made["id"]}, "zone": {"name": "us-south-1"}, "total_ipv4_address_count": 256}
        )
    )
    group = result(vpc.create_security_group({"id": made["id"]}, name="sdk-group"))
    balancer = result(vpc.create_load_balancer(is_public=True, subnets=[{"id": subnet["id"]}], name="sdk-lb"))
    default = result(vpc.get_vpc(id=made["id"]))["default_security_group"]["id"]
    refused(409, vpc.delete_security_group, id=default)
    refused(409, vpc.delete_subnet, id=subnet["id"])
    assert vpc.delete_load_balancer(id=balancer["id"]).get_status_code() == 204
    assert result(vpc.get_load_balancer(id=balancer["id"]))["provisioning_status"] == "delete_pending"
    gone(vpc.get_load_balancer, id=balancer["id"])
    assert vpc.delete_security_group(id=group["id"]).get_status_code() == 204
    assert vpc.delete_subnet(id=subnet["id"]).get_status_code() == 204
    gone(vpc.get_subnet, id=subnet["id"])
    assert vpc.delete_vpc(id=made["id"]).get_status_code() == 204
    assert result(vpc.get_vpc(id=made["id"]))["status"] == "deleting"
    gone(vpc.get_vpc, id=made["id"])
    refused(404, vpc.get_security_group, id=default)


def check_transit():
    gateways = result(transit.list_transit_gateways(limit=50))["transit_gateways"]
    assert [one["id"] for one in gateways] == [one["id"] for one in TransitGatewaysPager(client=transit, limit=1).get_all()]
    everywhere = ConnectionsPager(client=transit, limit=2).get_all()
    assert len(everywhere) == 9, len(everywhere)
    for gateway in gateways:
        assert result(transit.get_transit_gateway(id=gateway["id"])) == gateway
        own = TransitGatewayConnectionsPager(client=transit, transit_gateway_id=gateway["id"], limit=1).get_all()
        assert len(own) == gateway["connection_count"] == sum(
            one["transit_gateway"]["id"] == gateway["id"] for one in everywhere
        )
    vpcs = result(transit.list_connections(network_type="vpc"))["connections"]
    assert vpcs and all(one["network_type"] == "vpc" for one in vpcs)
    refused(404, transit.get_transit_gateway, id="nowhere")
    refused(409, transit.delete_transit_gateway, id="tg-backbone")


def check_transit_life():
    gateway = result(transit.create_transit_gateway(location="us-south", name="sdk-tg"))
    connection = result(
        transit.create_transit_gateway_connection(
            transit_gateway_id=gateway["id"], network_type="vpc", name="sdk-con", network_id="crn:v1:x"
        )
    )
    where = {"transit_gateway_id": gateway["id"], "id": connection["id"]}
    assert result(transit.get_transit_gateway_connection(**where))["status"] == "attached"
    refused(409, transit.delete_transit_gateway, id=gateway["id"])
    assert transit.delete_transit_gateway_connection(**where).get_status_code() == 204
    assert result(transit.get_transit_gateway_connection(**where))["status"] == "deleting"
    gone(transit.get_transit_gateway_connection, **where)
    assert transit.delete_transit_gateway(id=gateway["id"]).get_status_code() == 204
    gone(transit.get_transit_gateway, id=gateway["id"])
    refused(404, transit.delete_transit_gateway, id=gateway["id"])


def check_instances():
    for service, least in [(POWER, 4), (COS, 4)]:
        whole = result(instances.list_resource_instances(resource_id=service, limit=100))
        paged = ResourceInstancesPager(client=instances, resource_id=service, limit=1).get_all()
        assert [one["guid"] for one in whole["resources"]] == [one["guid"] for one in paged]
        assert len(paged) >= least, paged
        for one in whole["resources"]:
            assert result(instances.get_resource_instance(id=one["guid"])) == one
            assert result(instances.get_resource_instance(id=one["crn"])) == one
    named = result(instances.list_resource_instances(name="marsh-workspace"))["resources"]
    assert [one["locked"] for one in named] == [True]
    refused(404, instances.get_resource_instance, id="nowhere")
    refused(409, instances.delete_resource_instance, id="ws-marsh")
    assert result(groups.list_resource_groups())["resources"]


def check_instance_life():
    group = result(groups.list_resource_groups())["resources"][0]["id"]
    made = result(
        instances.create_resource_instance(
            name="sdk-cos", target="global", resource_group=group, resource_plan_id=COS_PLAN, tags=["Sdk:1"]
        )
    )
    assert tags_of(made["crn"]) == ["sdk:1"]
    result(instances.lock_resource_instance(id=made["guid"]))
    refused(409, instances.delete_resource_instance, id=made["guid"])
    result(instances.unlock_resource_instance(id=made["guid"]))
    assert instances.delete_resource_instance(id=made["guid"], recursive=True).get_status_code() == 202
    assert result(instances.get_resource_instance(id=made["guid"]))["state"] == "pending_reclamation"
    assert tags_of(made["crn"]) == ["sdk:1"], "tags stay until it is reclaimed"
    refused(410, instances.delete_resource_instance, id=made["guid"])
    waiting = result(instances.list_reclamations(resource_instance_id=made["guid"]))["resources"]
    assert len(waiting) == 1, waiting
    result(instances.run_reclamation_action(id=waiting[0]["id"], action_name="restore"))
    assert result(instances.get_resource_instance(id=made["guid"]))["state"] == "active"
    instances.delete_resource_instance(id=made["guid"])
    waiting = result(instances.list_reclamations(resource_instance_id=made["guid"]))["resources"]
    result(instances.run_reclamation_action(id=waiting[0]["id"], action_name="reclaim"))
    assert result(instances.get_resource_instance(id=made["guid"]))["state"] == "removed"
    refused(410, instances.delete_resource_instance, id=made["guid"])

    made = result(
        instances.create_resource_instance(name="sdk-ws", target="dal10", resource_group=group, resource_plan_id=POWER_PLAN)
    )
    assert instances.delete_resource_instance(id=made["guid"]).get_status_code() == 202
    for _ in range(GONE_MAX):
        if result(instances.get_resource_instance(id=made["guid"]))["state"] == "removed":
            break
        time.sleep(1)
    else:
        raise AssertionError("the workspace is not removed")


def check_tags():
    made = result(vpc.create_vpc(name="sdk-tags"))
    crn = made["crn"]
    assert attach(crn, ["Env:Prod", "owner:sdk"])["is_error"] is False
    assert tags_of(crn) == ["env:prod", "owner:sdk"], "upper case is folded"
    for illegal in ["a/b:c", "a,b", "x" * 129]:
        assert attach(crn, [illegal])["is_error"] is True, illegal
    assert attach("crn:v1:bluemix:public:is:us-south:a/x::vpc:nowhere", ["a:b"])["is_error"] is True
    assert attach(crn, ["env:test"], update=True)["is_error"] is False
    assert tags_of(crn) == ["env:test", "owner:sdk"]
    result(tagging.detach_tag(resources=[{"resource_id": crn}], tag_names=["env:*"], tag_type="user"))
    assert tags_of(crn) == ["owner:sdk"]
    assert "owner:sdk" in [item["name"] for item in result(tagging.list_tags(limit=1000))["items"]]
    assert result(tagging.delete_tag(tag_name="owner:sdk"))["results"][0]["is_error"] is True, "it is attached"
    result(tagging.detach_tag(resources=[{"resource_id": crn}], tag_name="owner:sdk", tag_type="user"))
    assert tags_of(crn) == []
    made_tags = result(tagging.create_tag(tag_names=["project:sdk", "nokey"], tag_type="access"))["results"]
    assert [one["is_error"] for one in made_tags] == [False, True], made_tags
    refused(400, tagging.create_tag, tag_names=["x"], tag_type="user")
    refused(400, tagging.attach_tag, resources=[{"resource_id": crn}] * 101, tag_names=["a"], tag_type="user")
    assert result(tagging.delete_tag_all(tag_type="user"))["total_count"] == 0
    vpc.delete_vpc(id=made["id"])


def check_search():
    everything, cursor = [], None
    while True:
        page = result(search.search(query="*", fields=["crn", "name", "type", "tags"], limit=5, search_cursor=cursor))
        everything += page["items"]
        cursor = page.get("search_cursor")
        if len(page["items"]) < 5 or not cursor:
            break
    crns = [item["crn"] for item in everything]
    assert len(crns) == len(set(crns)) >= 20, len(crns)
    owned = result(search.search(query='tags:"powervs.cluster.x-k8s.io-owner:lagoon"', fields=["crn", "tags"], limit=100))
    assert len(owned["items"]) == 7, len(owned["items"])
    escaped = result(search.search(query=r"tags:powervs.cluster.x-k8s.io-owner\:lagoon", fields=["crn"], limit=100))
    assert [item["crn"] for item in escaped["items"]] == [item["crn"] for item in owned["items"]]
    workspaces = r"family:resource_controller AND type:resource-instance AND crn:crn\:v1\:bluemix\:public\:power-iaas*"
    assert len(result(search.search(query=workspaces, limit=100))["items"]) == 5
    assert len(result(search.search(query="family:is AND (type:vpc OR type:subnet)", limit=100))["items"]) >= 7
    assert len(result(search.search(query="*"))["items"]) == 10, "the service's own page"
    refused(400, search.search, query='tags:"x')


def check_search_is_behind():
    made = result(vpc.create_vpc(name="sdk-late"))
    found = lambda: len(result(search.search(query=f'crn:"{made["crn"]}"', fields=["crn"], limit=10))["items"])
    assert found() == 0, "a new resource is not in the index yet"
    for _ in range(GONE_MAX):
        if found():
            break
        time.sleep(1)
    else:
        raise AssertionError("the index never heard of it")
    vpc.delete_vpc(id=made["id"])


def check_storage():
    global calls
    client = ibm_boto3.client(
        "s3",
        ibm_api_key_id=KEY,
        ibm_service_instance_id="cos-harbor",
        ibm_auth_endpoint=URL + "/identity/token",
        config=Config(signature_version="oauth"),
        endpoint_url=URL,
    )
    calls += 1
    assert client.list_buckets()["Buckets"] == []
    calls += 1
    try:
        client.head_bucket(Bucket="nowhere")
    except Exception as error:
        assert "404" in str(error), error
    else:
        raise AssertionError("a bucket that is not there was found")


def main():
    failures = []
    for name, check in sorted(globals().items()):
        if name.startswith("check_"):
            try:
                check()
            except Exception:
                failures.append(f"{name}: {traceback.format_exc()}")
    print(json.dumps({"calls": calls, "failures": failures}))
    return 1 if failures else 0


sys.exit(main())

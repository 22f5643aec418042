"""The chart rendered by Helm: what it makes keeps our rules, and what cannot work is refused.

Skipped where there is no Helm; `make chart-tools` installs it.
"""

import json

import pytest
import yaml

from tests.chart.rendering import (
    APART,
    CASES,
    NEWEST,
    OLDEST,
    Case,
    Object,
    environment,
    every_case,
    helm,
    needs_helm,
    pods,
    refusal,
    rendered,
    setting,
    templates,
)

pytestmark = needs_helm


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@every_case
def test_every_case_renders(case: Case, version: str) -> None:
    assert rendered(*case, version=version)


@every_case
def test_every_pod_is_restricted(case: Case) -> None:
    for name, pod in pods(rendered(*case)).items():
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        for container in pod["containers"]:
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] is True, name
            assert context["allowPrivilegeEscalation"] is False, name
            assert context["capabilities"] == {"drop": ["ALL"]}, name
            assert container["resources"]["limits"]["memory"], name


@every_case
def test_every_pod_can_pull_from_a_private_registry(case: Case) -> None:
    private = setting("image.registry=registry.example.com/", "image.pullSecrets={pull}")
    for name, pod in pods(rendered(*case, *private)).items():
        assert pod["imagePullSecrets"] == [{"name": "pull"}], name


@every_case
def test_no_two_objects_are_one_to_kubernetes(case: Case) -> None:
    watched = setting("monitoring.rules.enabled=true", "monitoring.dashboards.enabled=true")
    made = [
        (each["apiVersion"], each["kind"], each["metadata"]["namespace"], each["metadata"]["name"])
        for each in rendered(*case, *watched)
    ]
    assert not [each for each in made if made.count(each) > 1]


def test_images_of_others_are_named_whole() -> None:
    made = pods(rendered(*setting("image.registry=registry.example.com/")))
    named = [each["image"] for pod in made.values() for each in pod["containers"]]
    images = {name.rpartition(":")[0] for name in named}
    ours = {f"registry.example.com/aldebaran/{name}" for name in ("service", "spark")}
    assert images == {*ours, "apache/kafka", "postgres"}


def test_every_pod_of_an_install_on_mixed_nodes_is_told_which_it_may_have() -> None:
    for name, pod in pods(rendered(*CASES["eks"])).items():
        assert pod["nodeSelector"]["kubernetes.io/arch"] == "amd64", name


def test_three_brokers_are_never_on_one_node() -> None:
    by_node = spread_of_brokers("replicas=3")["kubernetes.io/hostname"]
    assert by_node["whenUnsatisfiable"] == "DoNotSchedule"
    assert by_node["minDomains"] == 3


@pytest.mark.parametrize("told", [["replicas=1"], ["replicas=3", "nodesApart=false"]])
def test_brokers_may_share_a_node_where_they_must(told: list[str]) -> None:
    by_node = spread_of_brokers(*told)["kubernetes.io/hostname"]
    assert by_node["whenUnsatisfiable"] == "ScheduleAnyway"
    assert "minDomains" not in by_node


def test_brokers_are_not_spread_where_that_is_off() -> None:
    assert not spread_of_brokers("replicas=3", "nodesApart=false", "topologySpread=false")
    assert not spread_of_brokers("replicas=1", "topologySpread=false")


def spread_of_brokers(*told: str) -> dict[str, Object]:
    """Return over what the brokers are spread, by the nodes' label."""
    chosen = setting(*(f"kafka.embedded.{each}" for each in told))
    pod = pods(rendered(*chosen))["t-aldebaran-kafka"]
    return {each["topologyKey"]: each for each in pod.get("topologySpreadConstraints", [])}


HOLDS_DATA = {"Kafka", "KafkaNodePool", "KafkaTopic", "Cluster"}
"""Kinds of operators that delete the data with the object."""


def test_what_operators_would_delete_with_its_data_outlives_the_release() -> None:
    made = [each for each in rendered(*CASES["strimzi"]) if each["kind"] in HOLDS_DATA]
    assert {each["kind"] for each in made} == HOLDS_DATA
    for each in made:
        told = each["metadata"]["annotations"]
        assert told["helm.sh/resource-policy"] == "keep"
        assert told["argocd.argoproj.io/sync-options"] == "Prune=false"


@every_case
def test_no_secret_stands_in_an_environment(case: Case) -> None:
    objects = rendered(*case)
    secrets = [
        value
        for each in objects
        if each["kind"] == "Secret"
        for name, value in each["stringData"].items()
        if not name.endswith(".yaml")
    ]
    environments = [
        variable.get("value", "")
        for pod in pods(objects).values()
        for container in pod["containers"]
        for variable in container.get("env", [])
    ]
    assert secrets
    assert not [text for text in environments if any(secret in text for secret in secrets)]


def test_the_door_for_callbacks_has_the_token_by_which_twilio_signs() -> None:
    made = pods(rendered(*CASES["full"]))
    sender, door = (made[f"t-aldebaran-{name}"] for name in ("deliverer-sms", "callbacks"))
    assert "t-aldebaran-deliverer-sms" in secrets_of(sender)
    assert "t-aldebaran-deliverer-sms" in secrets_of(door)


def secrets_of(pod: Object) -> set[str]:
    """Return the Secrets whose keys are a pod's settings."""
    (sources,) = (
        each["projected"]["sources"] for each in pod["volumes"] if each["name"] == "secrets"
    )
    return {each["secret"]["name"] for each in sources}


def test_every_object_is_labelled_and_every_policy_selects_pods_that_exist() -> None:
    objects = rendered(*CASES["full"])
    assert all(map(component, objects))
    made = {component(each) for of in (templates, executors) for each in of(objects).values()}
    selected = {
        each["spec"]["podSelector"]["matchLabels"].get("app.kubernetes.io/component")
        for each in objects
        if each["kind"] == "NetworkPolicy"
    }
    assert len(selected) > 10
    assert selected - {None} <= made


def component(labelled: Object) -> str:
    return str(labelled["metadata"]["labels"]["app.kubernetes.io/component"])


def test_two_auditors_by_default_each_with_a_checkpoint_of_its_own() -> None:
    sets = {each["metadata"]["name"]: each for each in rendered() if each["kind"] == "StatefulSet"}
    auditors = [each for name, each in sets.items() if "auditor" in name]
    assert len(auditors) == 2
    for each in auditors:
        assert each["spec"]["replicas"] == 1
        assert each["spec"]["volumeClaimTemplates"]


def test_executors_are_pods_where_the_runner_is_the_cluster() -> None:
    objects = rendered(*APART)
    assert {"Role", "RoleBinding"} <= {each["kind"] for each in objects}
    told = environment(pods(objects)["t-aldebaran-auditor-a"]["containers"][0])
    assert told["ALDEBARAN_AUDITOR_MASTER"].startswith("k8s://")
    assert "spark.kubernetes.container.image" in told["ALDEBARAN_AUDITOR_SPARK_OPTIONS"]


def test_executors_have_no_volume_where_checkpoints_are_in_a_bucket() -> None:
    in_bucket = setting("auditor.runner=cluster", "auditor.checkpoints.store=s3a://bucket/prefix")
    mounted = ".options.claimName"
    for chosen, count in ((APART, 1), (in_bucket, 0)):
        told = environment(pods(rendered(*chosen))["t-aldebaran-auditor-a"]["containers"][0])
        assert told["ALDEBARAN_AUDITOR_SPARK_OPTIONS"].count(mounted) == count


def executor_templates(objects: list[Object]) -> dict[str, Object]:
    """Return the pod's part of what executors' pods begin from, by the auditor's file."""
    return {name: each["spec"] for name, each in executors(objects).items()}


def executors(objects: list[Object]) -> dict[str, Object]:
    """Return what executors' pods begin from, labels and all, by the auditor's file."""
    return {
        name: yaml.safe_load(text)
        for each in objects
        if each["kind"] == "ConfigMap" and "-executor" in each["metadata"]["name"]
        for name, text in each["data"].items()
    }


def test_what_spark_mounts_on_executors_is_not_mounted_on_them_already() -> None:
    objects = rendered(*APART)
    driver = pods(objects)["t-aldebaran-auditor-a"]["containers"][0]
    by_spark = {environment(driver)["SPARK_LOCAL_DIRS"], "/var/lib/aldebaran"}
    (executor,) = executor_templates(objects)["a.yaml"]["containers"]
    assert not by_spark & {mount["mountPath"] for mount in executor["volumeMounts"]}


def test_an_auditor_and_its_executors_may_be_kept_off_the_partners_node() -> None:
    objects = rendered(*APART, *setting("auditor.apart=required"))
    templates = executor_templates(objects)
    for own, other in (("a", "b"), ("b", "a")):
        for pod in (pods(objects)[f"t-aldebaran-auditor-{own}"], templates[f"{own}.yaml"]):
            (rule,) = pod["affinity"]["podAntiAffinity"][
                "requiredDuringSchedulingIgnoredDuringExecution"
            ]
            (partner,) = rule["labelSelector"]["matchExpressions"]
            assert partner["values"] == [other]


def test_executors_go_to_their_drivers_node_or_else_its_zone() -> None:
    """An auditor stops with any of its pods, so the fewer nodes have them, the better."""
    for own, pod in zip("ab", executor_templates(rendered(*APART)).values(), strict=True):
        rules = pod["affinity"]["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
        rules.sort(key=lambda rule: -rule["weight"])
        terms = [each["podAffinityTerm"] for each in rules]
        nearest = ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]
        assert [each["topologyKey"] for each in terms] == nearest
        for each in terms:
            (named,) = each["labelSelector"]["matchExpressions"]
            assert named["values"] == [own]


def test_an_auditor_and_its_executors_have_the_priority_that_is_named() -> None:
    objects = rendered(*APART, *setting("auditor.priorityClassName=first"))
    made = [pods(objects)["t-aldebaran-auditor-a"], *executor_templates(objects).values()]
    assert {pod["priorityClassName"] for pod in made} == {"first"}


def test_the_second_auditor_waits_for_the_first_before_it_stops() -> None:
    made = pods(rendered())
    first, second = made["t-aldebaran-auditor-a"], made["t-aldebaran-auditor-b"]
    assert "lifecycle" not in first["containers"][0]
    waits = second["containers"][0]["lifecycle"]["preStop"]["exec"]["command"]
    assert "http://t-aldebaran-auditor-a:8080/healthz/ready" in waits
    assert second["terminationGracePeriodSeconds"] >= 180 + 90


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        (["auditor.slots=4"], "Set auditor.slots to 10"),
        (["auditor.runner=cluster"], "ReadWriteMany"),
        (["kafka.mode=external"], "kafka.bootstrapServers"),
        (["postgres.mode=external"], "postgres.existingSecret"),
        (["kafka.embedded.replicas=2"], "replicas"),
        (["channels.pigeon.colour=grey"], "colour"),
        (["components.gateway.autoscaling.type=keda"], "hpa"),
        (["routes.other\\.yaml=x"], "routes.yaml"),
        (["httpRoute.enabled=true"], "Set httpRoute.parentRefs"),
        (["components.gateway.partitions=3"], "Remove components.gateway.partitions"),
        (["kafka.mode=external", "kafka.bootstrapServers=b:9095"], "kafka.ports has no 9095"),
        (
            [
                "components.gateway.autoscaling.type=hpa",
                "components.gateway.autoscaling.minReplicas=6",
            ],
            "Set maxReplicas to 6",
        ),
        (["topics.replication=3"], "Set topics.replication to 1 or less"),
        (["kafka.embedded.heap=1280m"], "kafka.embedded.resources.limits.memory"),
        (["auditor.heap=4g"], "auditor.resources.limits.memory"),
        (["archivist.enabled=true", "archivist.heap=2g"], "archivist.resources.limits.memory"),
        ([f"fullnameOverride={'n' * 40}"], "Set fullnameOverride to 34 characters or less"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_what_cannot_work_is_refused_with_what_to_do(settings: list[str], advice: str) -> None:
    assert advice in refusal(*settings)


@pytest.mark.parametrize("runner", ["local", "kubeflow"])
def test_a_part_may_be_without_resources(runner: str) -> None:
    parts = ("kafka.embedded", "auditor", "archivist")
    none = setting("archivist.enabled=true", *(f"{part}.resources=null" for part in parts))
    case = CASES["spark-operators"] if runner == "kubeflow" else ()
    made = rendered(*case, *none)
    wanting = [each for pod in pods(made).values() for each in pod["containers"]]
    lacking = {each["name"] for each in wanting if not each["resources"]}
    assert lacking == {"kafka", "archivist", *(["auditor"] if runner == "local" else [])}


def test_a_stream_with_more_copies_than_brokers_is_refused() -> None:
    heat = "{stream: heat, partitions: 1, replication: 3}"
    told = (f"--set-json=streams={json.dumps({'heat.yaml': heat})}", "--set=auditor.enabled=false")
    assert "Set replication of stream heat to 1 or less" in helm(*told).stderr
    assert rendered(*told, "--set=kafka.embedded.replicas=3")


def test_a_door_may_be_for_all_hosts_of_a_domain() -> None:
    door = setting("ingress.enabled=true", "ingress.host=*.example.com", "ingress.tlsSecret=tls")
    (made,) = (each for each in rendered(*door) if each["kind"] == "Ingress")
    assert [rule["host"] for rule in made["spec"]["rules"]] == ["*.example.com"]
    assert [each["hosts"] for each in made["spec"]["tls"]] == [["*.example.com"]]


def test_a_route_without_hosts_takes_those_of_its_gateway() -> None:
    (made,) = (
        each
        for each in rendered(*setting("httpRoute.enabled=true", "httpRoute.parentRefs[0].name=g"))
        if each["kind"] == "HTTPRoute"
    )
    assert "hostnames" not in made["spec"]


def test_nobody_to_tell_is_refused() -> None:
    off = [f"channels.{name}.enabled=false" for name in ("bus", "webhook", "email")]
    assert "nobody would be told" in refusal(*off)


def test_helm_test_tries_a_trade() -> None:
    (trial,) = (each for each in rendered() if each["kind"] == "Pod")
    assert trial["metadata"]["annotations"]["helm.sh/hook"] == "test"
    assert trial["spec"]["containers"][0]["args"] == ["services.simulator.trial"]


HEAT = "{stream: heat, partitions: 1}"
WARM = "{watch: warm, streams: [heat]}"
OF_ONES_OWN = {"streams": {"heat.yaml": HEAT}, "watches": {"warm.yaml": WARM}}


@pytest.mark.parametrize(
    "without",
    [
        {"tests": {"enabled": False}},
        {"components": {"gateway": {"enabled": False}}},
        {"auditor": {"enabled": False}},
        OF_ONES_OWN,
    ],
    ids=lambda value: next(iter(value)),
)
def test_helm_test_is_not_there_where_no_alert_could_come(without: Object) -> None:
    told = [f"--set-json={name}={json.dumps(value)}" for name, value in without.items()]
    assert not [each for each in rendered(*told) if each["kind"] == "Pod"]

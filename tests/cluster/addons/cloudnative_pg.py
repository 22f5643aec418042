"""CloudNativePG: makes a Postgres of several servers, and a new primary where one dies."""

import platform
from pathlib import Path
from typing import Final

from tests.cluster.addons.addon import Addon
from tests.cluster.addons.go_module import GoModule
from tests.cluster.addons.installing import (
    apply,
    documents,
    wait_established,
    wait_rolled_out,
    with_image,
)
from tests.cluster.kubectl import Object

NAMESPACE: Final = "cnpg-system"
DEPLOYMENT: Final = "cnpg-controller-manager"
OWN_IMAGE: Final = "OPERATOR_IMAGE_NAME"
"""Which image it takes its program from for the pods of Postgres."""
ARCHITECTURE: Final = {"x86_64": "amd64", "aarch64": "arm64"}.get(
    platform.machine(), platform.machine()
)


def install(addon: Addon, manifests: Path) -> None:
    """Apply the release's own manifests."""
    made = with_image(documents(manifests.read_text("utf-8")), addon.image)
    apply(itself(each, addon.image) for each in made)
    wait_established("clusters.postgresql.cnpg.io")
    wait_rolled_out(NAMESPACE, f"deployment/{DEPLOYMENT}")


def itself(made: Object, image: str) -> Object:
    """Return an object that knows its own image, and may take of a small node what is there."""
    if made["kind"] != "Deployment":
        return made
    (container,) = made["spec"]["template"]["spec"]["containers"]
    others = [each for each in container["env"] if each["name"] != OWN_IMAGE]
    container["env"] = [*others, {"name": OWN_IMAGE, "value": image}]
    container["resources"] = {"requests": {"cpu": "20m", "memory": "64Mi"}}
    return made


CLOUDNATIVE_PG: Final = Addon(
    name="cloudnative-pg",
    origin=GoModule(
        module="github.com/cloudnative-pg/cloudnative-pg",
        version="v1.27.0",
        h1="h1:mp0zlYO4vKAJmQdArWORWKr1lmB4Hj8JeBQGX5RBnpg=",
        programs={
            "/manager": "./cmd/manager",
            # By this one it knows what runs in the pods of Postgres.
            f"/operator/manager_{ARCHITECTURE}": "./cmd/manager",
        },
    ),
    manifests="releases/cnpg-1.27.0.yaml",
    install=install,
)

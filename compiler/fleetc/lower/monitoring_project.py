"""Lowers the monitoring project: the programs of each host, with arguments, files and users.

In: a fleet with `[monitoring.project]`. Out: `Programs`. Called by `lower/monitoring.py`. All containers use the
network of their host, because nodes serve metrics on its loopback, and read their configuration from one directory:
Docker binds a single file by its inode, and Ansible replaces files.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis.scraping import project_hosts
from fleetc.blueprint.monitoring import PROJECT_DIRECTORY, Container, HostProject, Notified, Programs
from fleetc.language import effective_monitoring as in_force
from fleetc.language.effective import LOOPBACK
from fleetc.language.fleet import Fleet
from fleetc.language.monitoring import Monitoring, MonitoringProject
from fleetc.language.quantities import Listener, host_port
from fleetc.places.origin import Chosen, derived, given
from fleetc.upstream.monitoring_images import monitoring_images

_WHY = derived("the programs of the monitoring project", in_force.PROJECT)
_GRAFANA = {
    "GF_PATHS_PROVISIONING": f"{PROJECT_DIRECTORY}/grafana",
    "GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH": f"{PROJECT_DIRECTORY}/dashboard.json",
    "GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES": "false",
    "GF_ANALYTICS_CHECK_FOR_UPDATES": "false",
    "GF_ANALYTICS_REPORTING_ENABLED": "false",
    "GF_PLUGINS_PREINSTALL_AUTO_UPDATE": "false",
    "GF_PLUGINS_PREINSTALL_DISABLED": "true",
}
"""Grafana shows the dashboard at once, and never calls the internet."""
_WITHOUT_PASSWORD = {
    "GF_AUTH_ANONYMOUS_ENABLED": "true",
    "GF_AUTH_BASIC_ENABLED": "false",
    "GF_AUTH_DISABLE_LOGIN_FORM": "true",
    "GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION": "true",
}
"""Visitors of Grafana can only read: no user has a default password."""


def lower_project(fleet: Fleet, settings: Monitoring) -> Programs | None:
    """The project of each host; None if the spec does not ask for any."""
    project = settings.project
    if project is None:
        return None
    return Programs(
        hosts=tuple(_host(fleet, settings, project, host, agent) for host, agent in project_hosts(fleet)),
        notified=tuple(_notified(project)),
        prometheus=_url(in_force.prometheus_listener(project)),
        alertmanager=_url(in_force.alertmanager_listener(project)),
    )


def _host(fleet: Fleet, settings: Monitoring, project: MonitoringProject, host: str, agent: bool) -> HostProject:
    found = [_agent(settings, project, host)] if agent else [*_central(fleet, settings, project)]
    blackbox = in_force.blackbox_listener(fleet, host)
    if blackbox is not None:
        config = Chosen("--config.file=/etc/blackbox_exporter/config.yml", _WHY)  # the image's own
        prober = _container(in_force.BLACKBOX, (config, _listens(blackbox)), blackbox, "/-/healthy")
        found.append(prober._replace(configured=False))
    measured = in_force.node_exporter_listener(project)
    arguments = (Chosen("--path.rootfs=/host", _WHY), _listens(measured))
    exporter = _container(in_force.NODE_EXPORTER, arguments, measured, "/")
    found.append(exporter._replace(configured=False, sees_host=True))
    return HostProject(host, agent, tuple(found))


def _agent(settings: Monitoring, project: MonitoringProject, host: str) -> Container:
    listener = in_force.prometheus_listener(project, agent=True)
    arguments = (
        Chosen("--agent", _WHY),
        Chosen(f"--config.file={PROJECT_DIRECTORY}/{host}.yml", _WHY),
        Chosen("--storage.agent.path=/prometheus", _WHY),
        _listens(listener),
    )
    token = settings.receiver_token
    files = () if token is None else (Chosen(token.name, given("monitoring", "receiver_token")),)
    return _container(in_force.PROMETHEUS, arguments, listener, "/-/ready")._replace(files=files, data="/prometheus")


def _central(fleet: Fleet, settings: Monitoring, project: MonitoringProject) -> Iterator[Container]:
    yield _prometheus(fleet, settings, project)
    listener = in_force.alertmanager_listener(project)
    arguments = (
        Chosen(f"--config.file={PROJECT_DIRECTORY}/alertmanager.yml", _WHY),
        Chosen("--storage.path=/alertmanager", _WHY),
        Chosen("--cluster.listen-address=", _WHY),  # one Alertmanager alone needs no port for others
        _listens(listener),
    )
    files = tuple(notified.file for notified in _notified(project))
    alertmanager = _container(in_force.ALERTMANAGER, arguments, listener, "/-/ready")
    yield alertmanager._replace(files=files, data="/alertmanager")
    yield _grafana(project)


def _prometheus(fleet: Fleet, settings: Monitoring, project: MonitoringProject) -> Container:
    listener = in_force.prometheus_listener(project)
    arguments = [
        Chosen(f"--config.file={PROJECT_DIRECTORY}/prometheus.yml", _WHY),
        Chosen("--storage.tsdb.path=/prometheus", _WHY),
        _listens(listener),
    ]
    if any(agent for _, agent in project_hosts(fleet)):
        why = derived("agents on other hosts write to it", in_force.PROJECT, ("hosts",))
        arguments.append(Chosen("--web.enable-remote-write-receiver", why))
    files = tuple(
        Chosen(path, given("monitoring", "rule_files", place)) for place, path in enumerate(settings.rule_files)
    )
    found = _container(in_force.PROMETHEUS, tuple(arguments), listener, "/-/ready")
    return found._replace(files=files, data="/prometheus")


def _grafana(project: MonitoringProject) -> Container:
    listener = in_force.grafana_listener(project)
    texts = _GRAFANA if project.grafana_password is not None else _GRAFANA | _WITHOUT_PASSWORD
    variables = {name: Chosen(text, _WHY) for name, text in texts.items()}
    variables["GF_SERVER_HTTP_ADDR"] = Chosen(listener.value.host, listener.origin)
    variables["GF_SERVER_HTTP_PORT"] = Chosen(str(listener.value.port), listener.origin)
    files: tuple[Chosen[str], ...] = ()
    if project.grafana_password is not None:
        password = Chosen(project.grafana_password.name, given(*in_force.PROJECT, "grafana_password"))
        variables["GF_SECURITY_ADMIN_PASSWORD__FILE"] = password
        files = (password,)
    found = _container(in_force.GRAFANA, (), listener, "/api/health")
    return found._replace(variables=tuple(sorted(variables.items())), files=files, data="/var/lib/grafana")


def _container(name: str, arguments: tuple[Chosen[str], ...], listener: Chosen[Listener], ready: str) -> Container:
    image = monitoring_images()[name]
    asked = _url(listener)
    return Container(name, image.image, image.user, arguments, asked._replace(value=asked.value + ready), _WHY)


def _listens(listener: Chosen[Listener]) -> Chosen[str]:
    return Chosen(f"--web.listen-address={listener.value}", listener.origin)


def _url(listener: Chosen[Listener]) -> Chosen[str]:
    """Where programs of the same host ask a program that listens there."""
    where = listener.value
    return Chosen(f"http://{host_port(LOOPBACK, where.port) if where.is_any else where}", listener.origin)


def _notified(project: MonitoringProject) -> Iterator[Notified]:
    for kind, secret in (("webhook", project.webhook), ("slack", project.slack), ("heartbeat", project.heartbeat)):
        if secret is not None:
            yield Notified(kind, Chosen(secret.name, given(*in_force.PROJECT, kind)))

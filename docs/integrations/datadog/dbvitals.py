"""The Datadog Agent's check of dbvitals: fleet, tickets and one metric for all databases. Each run sends at most 3 requests and one for
each further 100 databases."""

from datadog_checks.base import AgentCheck


class DbvitalsCheck(AgentCheck):
    __NAMESPACE__ = "dbvitals"

    STATUS = {"healthy": AgentCheck.OK, "warning": AgentCheck.WARNING, "critical": AgentCheck.CRITICAL}

    def check(self, instance):
        fleet = self.ask(instance, "/api/v1/health/fleet?include=tags,engine")
        for status in ("healthy", "warning", "critical", "never_run"):
            self.gauge("connections", fleet["summary"][status], tags=["status:" + status])
        for database in fleet["data"]:
            tags = ["connection:" + database["name"], "engine:" + database["engine"]] + database["tags"]
            if database["score"] is not None:
                self.gauge("score", database["score"], tags=tags)
            self.service_check("database", self.STATUS.get(database["status"], AgentCheck.UNKNOWN), tags=tags)
        if instance.get("tickets", True):
            stats = self.ask(instance, "/api/v1/ops/stats")["data"]
            for name in ("open_count", "critical_open", "warning_open"):
                self.gauge("tickets." + name, stats[name])
        for metric in instance.get("metrics", []):
            self.read_metric(instance, metric)

    def read_metric(self, instance, metric):
        path = "/api/v1/health/measures?per_page=100&metric=" + metric
        after = None
        while True:
            page = self.ask(instance, path + ("" if after is None else "&after=" + after))
            for row in page["data"]:
                tags = ["connection:" + row["connection_name"], "unit:" + row["unit"]] + row["tags"]
                tags += [key + ":" + row[key] for key in ("database", "object") if row[key] is not None]
                self.gauge("measure." + metric, row["value"], tags=tags)
            after = page["meta"]["next"]
            if after is None:
                return

    def ask(self, instance, path):
        answer = self.http.get(instance["url"] + path)
        answer.raise_for_status()
        return answer.json()

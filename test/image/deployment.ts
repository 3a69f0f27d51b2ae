import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');
const DEPLOY = join(ROOT, 'deploy');

/** Asserts that the files in deploy/ are valid and match each other and the package. `scratch` is a temporary folder. */
export function checkDeployment(scratch: string): void {
  checkCaddyfile(scratch);
  checkUnits(scratch);
  checkCompose();
  checkChart(scratch);
}

function checkCaddyfile(scratch: string): void {
  const validate = ['validate', '--adapter', 'caddyfile', '--config', join(DEPLOY, 'Caddyfile')];
  const caddy = spawnSync('caddy', validate, { encoding: 'utf8', env: { ...process.env, HOME: scratch } });
  assert.equal(caddy.status, 0, caddy.stderr);
}

/** Verifies the units with systemd. It also looks for the command, which is not installed here, so it is replaced. */
function checkUnits(scratch: string): void {
  const units = ['dbvitals.service', 'dbvitals-backup.service', 'dbvitals-backup.timer'];
  for (const name of units) {
    const text = readFileSync(join(DEPLOY, name), 'utf8');
    writeFileSync(join(scratch, name), text.replace(/^ExecStart=dbvitals .*$/m, 'ExecStart=/bin/true'));
  }
  const files = units.map((name) => join(scratch, name));
  const verified = spawnSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' });
  assert.doesNotMatch(verified.stderr, /dbvitals/);
  for (const unit of files.filter((name) => name.endsWith('.service'))) {
    // The exposure is 0 to 10, where 10 is a unit without hardening. systemd rates less than 2 as "OK".
    const shown = execFileSync('systemd-analyze', ['security', '--offline=true', '--threshold=19', unit], {
      encoding: 'utf8',
    });
    assert.match(shown, /PrivateTmp/);
  }
}

function checkCompose(): void {
  const text = readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8');
  const { services, secrets } = parse(text, { merge: true });
  const { environment, depends_on } = services['dbvitals-1'];
  assert.deepEqual(services['dbvitals-2'], services['dbvitals-1']);
  assert.equal(environment.DBVITALS_TRUST_PROXY, services.proxy.networks.front.ipv4_address);
  assert.deepEqual(Object.keys(depends_on), ['postgres']);
  assert.deepEqual(
    services['dbvitals-1'].secrets.map((name: string) => `/run/secrets/${name}`),
    [environment.DATABASE_URL_FILE, environment.DBVITALS_SECRET_KEY_FILE],
  );
  for (const name of services.postgres.secrets) assert(name in secrets, name);
  for (const [, file = ''] of text.matchAll(/- \.\/([^:]+):/g)) assert(existsSync(join(DEPLOY, file)), file);
}

/** Renders the chart with its default values and with all others. Debian has no `helm`. */
function checkChart(scratch: string): void {
  const chart = join(DEPLOY, 'helm/dbvitals');
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const about = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'));
  assert.deepEqual([about.version, about.appVersion], [version, version]);

  const render = (values: object) => {
    writeFileSync(join(scratch, 'values.yaml'), stringify(values));
    const program = ['run', join(import.meta.dirname, 'render-chart.go'), chart, 'vitals'];
    const text = execFileSync('go', [...program, join(scratch, 'values.yaml')], {
      encoding: 'utf8',
      env: {
        ...process.env,
        GO111MODULE: 'off',
        GOPATH: '/usr/share/gocode',
        GOCACHE: join(scratch, 'go'),
      },
    });
    assert.doesNotMatch(text, /<no value>|<nil>/);
    const documents = parseAllDocuments(text, { strict: true });
    assert.deepEqual(
      documents.flatMap(({ errors }) => errors),
      [],
    );
    return Object.fromEntries(
      documents.map((one) => one.toJS()).flatMap((one) => (one ? [[one.kind, one]] : [])),
    );
  };

  assert.deepEqual(Object.keys(render({})).sort(), ['Deployment', 'PodDisruptionBudget', 'Service']);
  const { Deployment, Ingress, Service } = render({
    image: { repository: 'registry.example.com/dbvitals', tag: 'other' },
    imagePullSecrets: [{ name: 'registry' }],
    trustProxy: '10.0.0.0/8',
    drainSeconds: 20,
    settings: { DBVITALS_ACTIVITY_DAYS: '365' },
    ingress: { host: 'dbvitals.example.com', className: 'nginx', tlsSecret: 'tls', annotations: { a: 'b' } },
    podAnnotations: { a: 'b' },
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ operator: 'Exists' }],
  });
  const { spec, metadata } = Deployment.spec.template;
  const [container] = spec.containers;
  assert.equal(container.image, 'registry.example.com/dbvitals:other');
  assert(
    container.env.some(
      (one: object) => JSON.stringify(one) === '{"name":"DBVITALS_ACTIVITY_DAYS","value":"365"}',
    ),
  );
  assert(container.securityContext.readOnlyRootFilesystem && spec.securityContext.runAsNonRoot);
  assert.equal(spec.terminationGracePeriodSeconds, 70);
  for (const [name, value] of Object.entries(Service.spec.selector))
    assert.equal(metadata.labels[name], value);
  assert.equal(Ingress.spec.rules[0].http.paths[0].backend.service.name, Service.metadata.name);
}

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
  checkCollectorCompose();
  checkChart(scratch);
}

function checkCaddyfile(scratch: string): void {
  const validate = ['validate', '--adapter', 'caddyfile', '--config', join(DEPLOY, 'Caddyfile')];
  const caddy = spawnSync('caddy', validate, { encoding: 'utf8', env: { ...process.env, HOME: scratch } });
  assert.equal(caddy.status, 0, caddy.stderr);
}

/** Verifies the units with systemd. It also looks for the command, which is not installed here, so it is replaced. */
function checkUnits(scratch: string): void {
  const units = [
    'dbvitals.service',
    'dbvitals-monitor.service',
    'dbvitals-collector.service',
    'dbvitals-backup.service',
    'dbvitals-backup.timer',
  ];
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
  const { services, secrets, volumes } = parse(text, { merge: true });
  const { environment, depends_on } = services['dbvitals-1'];
  const { volumes: _own, ports: _ports, ...alike } = services['dbvitals-1'];
  assert.deepEqual({ ...services['dbvitals-2'], ...alike }, services['dbvitals-2']);
  for (const name of ['dbvitals-1', 'dbvitals-2', 'monitor', 'backup']) {
    // What is written below /data outlives the container, and is no other container's.
    const [volume = ''] = services[name].volumes[0].split(':/data');
    assert(volume in volumes && !services[name].tmpfs.includes('/data'), name);
    assert.equal(text.split(`${volume}:/data`).length, 2);
    for (const secret of services[name].secrets) assert(secret in secrets, secret);
  }
  for (const { ports = [] } of [services['dbvitals-1'], services['dbvitals-2']])
    assert(ports.every((port: string) => port.startsWith('127.0.0.1:') && port.endsWith(':9090')));
  assert.equal(environment.DBVITALS_TRUST_PROXY, services.proxy.networks.front.ipv4_address);
  assert.deepEqual(Object.keys(depends_on), ['postgres']);
  assert.equal(environment.DATABASE_URL_FILE, `\${DATABASE_URL_FILE-/run/secrets/database-url}`);
  assert.equal(environment.DBVITALS_SECRET_KEY_FILE, '/run/secrets/secret-key');
  for (const name of services.postgres.secrets) assert(name in secrets, name);
  for (const [, file = ''] of text.matchAll(/- \.\/([^:]+):/g)) assert(existsSync(join(DEPLOY, file)), file);
}

/** The collector has no port, writes below /data and /tmp only, and reads the secrets that it names. */
function checkCollectorCompose(): void {
  const { services, secrets, volumes } = parse(readFileSync(join(DEPLOY, 'collector-compose.yaml'), 'utf8'));
  const { collector } = services;
  assert.deepEqual(Object.keys(services), ['collector']);
  assert(!('ports' in collector) && collector.read_only && collector.cap_drop.includes('ALL'));
  const readOption = (name: string) => collector.command[collector.command.indexOf(name) + 1];
  for (const name of ['--file', '--token-file']) {
    const [, secret = ''] = /^\/run\/secrets\/(.+)$/.exec(readOption(name)) ?? [];
    assert(collector.secrets.includes(secret) && secret in secrets, name);
  }
  const [volume = ''] = collector.volumes[0].split(':/data');
  assert(volume in volumes && readOption('--folder').startsWith('/data/'));
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
      documents
        .map((one) => one.toJS())
        .flatMap((one) => (one ? [[`${one.kind} ${one.metadata.name}`, one]] : [])),
    );
  };

  const least = [
    'Deployment vitals',
    'PodDisruptionBudget vitals',
    'Service vitals',
    'Service vitals-metrics',
  ];
  assert.deepEqual(Object.keys(render({})).sort(), least);
  for (const name of ['METRICS_PORT', 'HOST', 'DBVITALS_DRAIN_SECONDS'])
    assert.throws(() => render({ settings: { [name]: '1' } }), new RegExp(name));
  checkCellsAndParts(render);
  checkCollectorPod(render);
  const {
    'Deployment vitals': Deployment,
    'Ingress vitals': Ingress,
    'Service vitals': Service,
  } = render({
    image: { repository: 'registry.example.com/dbvitals', tag: 'other' },
    imagePullSecrets: [{ name: 'registry' }],
    trustProxy: '10.0.0.0/8',
    drainSeconds: 20,
    settings: { DBVITALS_ACTIVITY_DAYS: '365', DBVITALS_PULSE: false, LARGE_NUMBER: 10_000_000 },
    ingress: { host: 'dbvitals.example.com', className: 'nginx', tlsSecret: 'tls', annotations: { a: 'b' } },
    podAnnotations: { a: 'b' },
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ operator: 'Exists' }],
  });
  const { spec, metadata } = Deployment.spec.template;
  const [container] = spec.containers;
  assert.equal(container.image, 'registry.example.com/dbvitals:other');
  const settings = Object.fromEntries(container.env.map(({ name, value }: Rendered) => [name, value]));
  const { DBVITALS_ACTIVITY_DAYS, DBVITALS_PULSE, LARGE_NUMBER } = settings;
  assert.deepEqual([DBVITALS_ACTIVITY_DAYS, DBVITALS_PULSE, LARGE_NUMBER], ['365', 'no', '10000000']);
  assert(container.securityContext.readOnlyRootFilesystem && spec.securityContext.runAsNonRoot);
  assert.equal(spec.terminationGracePeriodSeconds, 70);
  for (const [name, value] of Object.entries(Service.spec.selector))
    assert.equal(metadata.labels[name], value);
  assert.equal(Ingress.spec.rules[0].http.paths[0].backend.service.name, Service.metadata.name);
}

// biome-ignore lint/suspicious/noExplicitAny: rendered YAML
type Rendered = Record<string, any>;

/** Cells, a monitor of its own, backups and volumes: every pod has the same store, and no other pod gets requests. */
function checkCellsAndParts(render: (values: object) => Rendered): void {
  const mount = { name: 'ca', mountPath: '/etc/ca' };
  const all = render({
    cells: true,
    monitor: { replicas: 2, concurrency: 20 },
    backup: { schedule: '17 2 * * *', storageClass: 'fast' },
    volumes: [{ name: 'ca', configMap: { name: 'ca' } }],
    volumeMounts: [mount],
  });
  const pods: Rendered[] = [
    all['Deployment vitals'].spec.template,
    all['Deployment vitals-monitor'].spec.template,
    all['CronJob vitals-backup'].spec.jobTemplate.spec.template,
  ];
  for (const { spec } of pods) {
    const [{ env, volumeMounts, securityContext }] = spec.containers;
    const named = Object.fromEntries(env.map(({ name, value }: Rendered) => [name, value]));
    assert.equal(named.DBVITALS_CELLS_FILE, '/run/dbvitals/cells.yaml');
    assert.equal(named.DBVITALS_SECRET_KEY_FILE, '/run/dbvitals/secret-key');
    assert.equal(named.DATABASE_URL_FILE, undefined);
    assert(securityContext.readOnlyRootFilesystem && spec.securityContext.runAsNonRoot);
    for (const { name } of volumeMounts)
      assert(
        spec.volumes.some((one: Rendered) => one.name === name),
        name,
      );
    assert.deepEqual(
      volumeMounts.find(({ name }: Rendered) => name === 'ca'),
      mount,
    );
  }
  const [service, monitor, backup] = pods.map(({ spec }) => spec.containers[0].args);
  assert.deepEqual(service, ['serve', '--no-monitor']);
  assert.deepEqual(monitor, ['monitor', '--concurrency', '20']);
  assert.deepEqual(backup, ['backup', '--all-cells', '--folder', '/backups', '--keep', '7']);
  for (const kind of ['Service vitals', 'Service vitals-metrics', 'PodDisruptionBudget vitals']) {
    const selector = all[kind].spec.selector.matchLabels ?? all[kind].spec.selector;
    const selects = ({ metadata }: Rendered) =>
      Object.entries(selector).every(([name, value]) => metadata.labels[name] === value);
    assert.deepEqual(pods.map(selects), [true, false, false], kind);
  }
  assert.equal(
    all['PersistentVolumeClaim vitals-backups'].metadata.annotations['helm.sh/resource-policy'],
    'keep',
  );

  const own = render({
    settings: { DATABASE_URL_FILE: '/run/store/url' },
    backup: { schedule: '17 2 * * *', claim: 'mine' },
  });
  const { env } = own['Deployment vitals'].spec.template.spec.containers[0];
  const urls = env.filter(({ name }: Rendered) => /^(?:DATABASE_URL_FILE|DBVITALS_CELLS_FILE)$/.test(name));
  assert.deepEqual(urls, [{ name: 'DATABASE_URL_FILE', value: '/run/store/url' }]);
  assert.equal(own['PersistentVolumeClaim mine'], undefined);
}

/** A collector alone: no service, no store, no secret key. */
function checkCollectorPod(render: (values: object) => Rendered): void {
  const all = render({
    replicas: 0,
    collector: { name: 'frankfurt', url: 'https://dbvitals.example.com', secret: 'own', size: '2Gi' },
  });
  const { spec } = all['StatefulSet vitals-collector'];
  const pod = spec.template.spec;
  const [{ args, env, securityContext, volumeMounts }] = pod.containers;
  assert.deepEqual([spec.replicas, env], [1, undefined]); // its key and its results are in one volume
  const options = ['--file', '/run/collector/collector.yaml', '--token-file', '/run/collector/token'];
  const names = ['--url', 'https://dbvitals.example.com', '--name', 'frankfurt'];
  assert.deepEqual(args, ['collect', ...names, ...options, '--folder', '/data/collector']);
  assert(securityContext.readOnlyRootFilesystem && pod.securityContext.runAsNonRoot);
  // Without it, the second start finds its key readable by the group.
  assert.equal(pod.securityContext.fsGroupChangePolicy, 'OnRootMismatch');
  const files = pod.volumes.find(({ name }: Rendered) => name === 'files');
  // Kubernetes reads YAML 1.1, in which it is octal.
  assert.deepEqual(files.secret, { secretName: 'own', defaultMode: 440 });
  const [claim] = spec.volumeClaimTemplates;
  assert.deepEqual([claim.metadata.name, claim.spec.resources.requests.storage], ['data', '2Gi']);
  const given = [...pod.volumes.map(({ name }: Rendered) => name), claim.metadata.name];
  assert.deepEqual(volumeMounts.map(({ name }: Rendered) => name).toSorted(), given.toSorted());
  for (const [name, value] of Object.entries(spec.selector.matchLabels))
    assert.equal(spec.template.metadata.labels[name], value);
  assert.equal(render({ replicas: 0 })['StatefulSet vitals-collector'], undefined);
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { closeWindows, inspect, openWindow, settled, visit } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { focused, tabTo } from './keyboard.ts';
import { HOSTILE } from './measured-connection.ts';

let service: ConsoleAccount;
let owner: Person;
let viewer: Person;
/** An alert of a measured value with deliveries. */
let measured = 0;
/** Its connection. */
let watched = 0;

const hostile = HOSTILE.replaceAll("'", "''");

// Alerts of three connections: a measured value, a low score, one that is muted because its server is unreachable.
const seed = (account: number) => `
  with c as (
    select connection_id as id, name, row_number() over (order by connection_id) as place
      from connection where account_id = ${account} and removed_at is null order by connection_id limit 3
  ), rule as (
    insert into alert_rule (account_id, name, metric, check_id, measure, operator, threshold, severity, created_at)
    values (${account}, 'Connections above 80 %', 'measure', 'PG_CONN_SATURATION', 'connections_used_ratio', '>=', 0.8, 'warning', now())
    returning rule_id, name, metric
  ), rules as (
    select rule_id, name, metric from rule
    union all
    select rule_id, name, metric from alert_rule where account_id = ${account} and preset is not null
  ), new (place, metric, state, operator, threshold, value, severity, object, line, named) as (values
    (1, 'measure', 'open', '>=', 0.8, 0.93, 'warning', '${hostile}', '93 % of the connections are used', 'connections_used_ratio'),
    (2, 'score', 'open', '<', 50, 12, 'critical', null, 'The score is 12.', 'score'),
    (3, 'score', 'open', '<', 50, 31, 'critical', null, 'The score is 31.', 'score'),
    (3, 'unreachable_seconds', 'open', '>=', 600, 780, 'critical', null, 'No answer for 13 minutes.', 'unreachable_seconds'),
    (1, 'score', 'resolved', '<', 50, 44, 'critical', null, 'The score was 44.', 'score')
  ), alerts as (
    insert into alert (account_id, rule_id, connection_id, state, since, metric, operator, threshold, value, details, severity,
                       triggered_at, resolved_at, resolution)
    select ${account}, r.rule_id, c.id, n.state, now() - n.place * interval '1 hour', n.named, n.operator, n.threshold, n.value,
           jsonb_build_object('rule_name', r.name, 'check_id', case n.metric when 'measure' then 'PG_CONN_SATURATION' end,
                              'database', '', 'object', n.object, 'metric_line', n.line,
                              'remediation', case n.metric when 'measure' then 'Raise max_connections or use a pooler.' end,
                              'worst', n.value),
           n.severity, now() - n.place * interval '1 hour', case n.state when 'resolved' then now() end,
           case n.state when 'resolved' then 'the condition no longer holds' end
      from new n join c using (place) join rules r using (metric)
    returning alert_id, metric
  ), destination as (
    insert into destination (account_id, name, channel, target, settings, kinds, state_since, created_at)
    values (${account}, 'On-call chat', 'slack', 'https://hooks.slack.com', '{}', '{alert.triggered}', now(), now())
    returning destination_id
  ), queue as (
    insert into destination_queue (account_id, destination_id, epoch) select ${account}, destination_id, 'epoch' from destination
  ), event as (
    insert into event (account_id, event_id, kind, occurred_at, severity, alert_id, body, details)
    select ${account}, 'evt_' || alert_id, 'alert.triggered', now(), 'warning', alert_id, '{}', '{}'
      from alerts where metric = 'connections_used_ratio'
    returning event_id
  )
  insert into delivery (account_id, destination_id, event_id, epoch, sequence, state, queued_at, due_at, attempts, ended_at,
                        status, result, is_logged)
  select ${account}, destination_id, event_id, 'epoch', n, case n when 1 then 'accepted' else 'queued' end, now(), now(), 1,
         case n when 1 then now() end, 200, '200 OK', true
    from destination, event, generate_series(1, 2) n`;

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 5, tickets: 20, activity: 50 });
  await service.statement(`delete from alert where account_id = ${service.accountId}`);
  owner = await service.owner();
  viewer = await service.member('Vic Viewer', ['viewer']);
});

afterAll(closeWindows);

async function open(path: string, person = owner) {
  const opened = await openWindow(service.origin, person);
  await visit(opened.page, path);
  return opened;
}

test('without alerts the page says what would open one', async () => {
  const { page, complaints, close } = await open('/alerts');
  await page.getByText('No open alerts').waitFor();
  await inspect(page, 'alerts-empty');
  await page.getByRole('navigation', { name: 'Alerts' }).getByRole('link', { name: 'Resolved' }).click();
  await page.getByText('No resolved alerts').waitFor();
  await page.getByRole('link', { name: 'Maintenance' }).click();
  await page.getByText('No maintenance windows').waitFor();
  await inspect(page, 'alerts-no-maintenance');
  expect(complaints).toEqual([]);
  await close();
});

describe('with alerts', () => {
  beforeAll(async () => {
    await service.statement(seed(service.accountId));
    const { items } = await service.ask<{
      items: { id: number; metric: string; connection_id: number }[];
    }>(owner, 'GET', '/alerts');
    const found = items.find(({ metric }) => metric === 'connections_used_ratio');
    measured = found?.id ?? 0;
    watched = found?.connection_id ?? 0;
  });

  test('list, alert, resolved and rules', async () => {
    const { page, complaints, close } = await open('/alerts');
    await page.getByText('3 critical, 1 warning open').waitFor();
    await expect.poll(() => page.getByText('Muted: the server is unreachable').count()).toBeGreaterThan(0);
    await inspect(page, 'alerts');
    await visit(page, `/alerts?alert=${measured}`);
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    await expect.poll(() => page.locator('.delivery-accepted').count()).toBe(1);
    expect(await page.locator('.alert-panel').textContent()).toContain(HOSTILE);
    await inspect(page, 'alerts-one');
    await visit(page, '/alerts?view=resolved');
    await page.getByText('the condition no longer holds').first().waitFor({ state: 'attached' });
    await inspect(page, 'alerts-resolved');
    await visit(page, '/alerts?view=rules');
    await page.getByText('Fires when connections used of PG_CONN_SATURATION is at least 80 %').waitFor();
    await inspect(page, 'alerts-rules');
    expect(complaints).toEqual([]);
    await close();
  });

  test('an alert is acknowledged by keyboard, and taken back', async () => {
    const { page, complaints, close } = await open('/alerts');
    const badge = page.locator('.navigation-count');
    await expect.poll(() => badge.textContent()).toContain('4');
    await page.keyboard.press('j');
    await expect.poll(() => focused(page)).toBe('Score below 50');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'Score below 50' }).waitFor();
    await tabTo(page, 'Acknowledge');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await inspect(page, 'alerts-acknowledge');
    await dialog.getByLabel('Note').fill('Restoring the replica');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.locator('.alert-panel .alert-state', { hasText: 'Restoring the replica' }).waitFor();
    await expect.poll(() => badge.textContent()).toContain('3');
    await page.getByText('3 critical, 1 warning open, 1 acknowledged.').waitFor();
    await inspect(page, 'alerts-acknowledged');
    await page.getByRole('button', { name: 'Unacknowledge' }).click();
    await page.locator('.alert-panel .alert-state', { hasText: 'Not acknowledged' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.alert-panel').waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toBe('Score below 50');
    expect(complaints).toEqual([]);
    await close();
  });

  test('a past end is refused with a sentence beside the field', async () => {
    const { page, close } = await open(`/alerts?alert=${measured}`);
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByRole('button', { name: /How long/ }).click();
    await page.getByRole('option', { name: 'Custom time' }).click();
    await page.getByLabel('Time', { exact: true }).fill('2020-01-01T10:00');
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByText(/must be in the future/).waitFor();
    await inspect(page, 'alerts-acknowledge-past');
    await close();
  });

  test('a viewer reads, and is offered no change', async () => {
    const { page, complaints, close } = await open(`/alerts?alert=${measured}`, viewer);
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    expect(await page.getByRole('button', { name: /Acknowledge/ }).count()).toBe(0);
    for (const view of ['rules', 'maintenance']) {
      await visit(page, `/alerts?view=${view}`);
      expect(await page.getByRole('button', { name: /Add|Change|Remove/ }).count()).toBe(0);
    }
    expect(complaints).toEqual([]);
    await close();
  });

  test('a rule is added, its mistakes are named, and it is disabled and removed', async () => {
    const { page, complaints, close } = await open('/alerts?view=rules');
    await page.getByRole('button', { name: 'Add rule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Disk nearly full');
    await dialog.getByLabel('Threshold').fill('120');
    await page.getByText('Fires when the score is below 120').waitFor();
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    await dialog.getByText(/This rule would always hold/).waitFor();
    await inspect(page, 'alerts-rule-error');
    await dialog.getByRole('button', { name: /Condition/ }).click();
    await page.getByRole('option', { name: 'Days until full' }).click();
    await dialog.getByRole('status').getByText('Fires when the time until a resource is full').waitFor();
    await dialog.locator('.radio', { hasText: 'By name' }).click();
    await dialog.getByRole('textbox', { name: 'Names' }).fill('nothing-is-called-so-*');
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    await dialog.getByText(/no connection matches/).waitFor();
    await dialog.getByRole('textbox', { name: 'Names' }).fill('*');
    await inspect(page, 'alerts-rule-form');
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    await dialog.waitFor({ state: 'detached' });
    const rule = page.locator('.rule-item', { hasText: 'Disk nearly full' });
    await rule.locator('.checkbox').click();
    await expect.poll(() => rule.getAttribute('class')).toContain('disabled-rule');
    await rule.getByRole('button', { name: /^Remove/ }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove rule' }).click();
    await rule.waitFor({ state: 'detached' });
    expect(complaints.filter((line) => !line.includes('400'))).toEqual([]);
    await close();
  });

  test('maintenance windows, once and each week', async () => {
    const { page, complaints, close } = await open('/alerts?view=maintenance');
    await page.getByRole('button', { name: 'Add window' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Disks');
    await dialog.getByLabel('Ends').fill('2020-01-01T10:00');
    await dialog.getByRole('button', { name: 'Add window' }).click();
    await dialog.getByText(/The window is in the past/).waitFor();
    await inspect(page, 'maintenance-past');
    await dialog.locator('.radio', { hasText: 'Every week' }).click();
    await dialog.getByLabel('Time zone').fill('Europe/Berlim');
    await dialog.getByRole('button', { name: 'Add window' }).click();
    await dialog.getByText('Did you mean Europe/Berlin?').waitFor();
    await dialog.getByLabel('Time zone').fill('Europe/Berlin');
    await dialog.getByText('Every Sunday 02:00–04:00 Europe/Berlin.').waitFor();
    await inspect(page, 'maintenance-form');
    // Such a window would be active already when the test runs at that time.
    const inDays = (days: number) =>
      new Intl.DateTimeFormat('en', { weekday: 'long' }).format(Date.now() + days * 86_400_000);
    await dialog.locator('.checkbox', { hasText: 'Sunday' }).click();
    await dialog.locator('.checkbox', { hasText: inDays(3) }).click();
    await dialog.getByRole('button', { name: 'Add window' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page
      .getByText(`Every ${inDays(3)} 02:00–04:00 Europe/Berlin; next:`)
      .first()
      .waitFor();
    const ends_at = new Date(Date.now() + 3_600_000).toISOString();
    const connections = { ids: null, names: null };
    await service.ask(owner, 'POST', '/maintenance', { name: 'Restart', connections, ends_at });
    await page.reload();
    await settled(page);
    const active = page.getByRole('region', { name: 'Active' }).locator('.rule-item');
    await expect.poll(() => active.count()).toBe(1);
    await inspect(page, 'maintenance');
    const { alerts } = await service.ask<{ alerts: { id: number }[] }>(
      owner,
      'GET',
      `/connections/${watched}/watch`,
    );
    await visit(page, `/connections/${watched}`);
    const watch = page.getByRole('region', { name: 'Alerts' });
    await watch.getByText('In maintenance: Restart').waitFor();
    await expect.poll(() => watch.getByRole('link').count()).toBe(alerts.length);
    await inspect(page, 'connection-watch');
    await visit(page, '/fleet');
    await page.locator('.table-item').getByText('in maintenance').first().waitFor();
    await inspect(page, 'fleet-maintenance');
    await visit(page, '/alerts?view=maintenance');
    await active.getByRole('button', { name: /End now/ }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'End now' }).click();
    await active.waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Past' }).waitFor();
    expect(complaints.filter((line) => !line.includes('400'))).toEqual([]);
    await close();
  });
});

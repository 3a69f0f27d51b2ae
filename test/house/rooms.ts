/**
 * The rooms of src/: its areas, and folders of areas that have walls of their own. For each room, the other rooms that its files
 * may import: `runs/{changes,queries}` is two of them, and `runs` is what stands in the area's own folder and in folders that are
 * no rooms. A room is listed above all that it imports, and a permission that no import uses is removed.
 */
const LIST: Readonly<Record<string, string>> = {
  'dbvitals.ts': 'main.ts platform',
  'main.ts': 'cli cli/doctor service monitor connections checks store store/directory config',
  cli: `
    cli/doctor api/mcp monitor accounts accounts/{collectors,keys,members} connections connections/monitoring-login
    tickets/{silences,triage} notifications
    notifications/{alerts,channels,deliveries,destinations,digest,dispatch,log-streams,maintenance}
    runs/{changes,episodes,load,measures,queries} activity activity/seals checks store
    store/{backup,directory,link} config platform platform/{schema,telemetry,text} vocabulary`,
  'cli/doctor': `
    service monitor accounts/collectors connections notifications/dispatch store store/{backup,directory,link} config
    platform/{network,text}`,
  service: `
    console-api collector-api api monitor accounts accounts/{collectors,keys,members,sign-in} connections
    notifications/{alerts,channels,destinations,digest,dispatch,log-streams,sending} runs
    runs/{changes,episodes,load,measures,queries} activity activity/seals http http/edge store
    store/{backup,directory} config platform platform/{network,telemetry} vocabulary`,
  'console-api': `
    api api/endpoints monitor accounts accounts/{collectors,keys,members,saved-views,sign-in} connections
    connections/{monitoring-login,samples} tickets/{silences,triage} notifications
    notifications/{alerts,deliveries,destinations,digest,log-streams,maintenance,recipients} runs
    runs/{changes,episodes,load,measures,queries} activity activity/seals http http/edge checks checks/vitals
    store store/{cells,directory} config platform platform/{schema,text} vocabulary`,
  'collector-api': `
    api monitor accounts/collectors runs/{changes,load} http http/edge store store/directory platform platform/schema
    vocabulary`,
  api: `
    api/{endpoints,gate,mcp,openapi} activity http http/edge store store/{directory,exchange} config
    platform platform/{network,telemetry} vocabulary`,
  'api/endpoints': `
    connections tickets tickets/triage notifications/alerts runs/{changes,episodes,measures,queries} activity activity/seals
    http store platform platform/{schema,text} vocabulary`,
  'api/gate': 'store store/{log,pool} config platform platform/telemetry',
  'api/mcp': 'platform',
  'api/openapi': 'http platform platform/schema vocabulary',
  monitor: `
    connections tickets tickets/silences notifications/{alerts,run-events} runs
    runs/{changes,episodes,load,measures,queries} activity checks checks/vitals store store/{cells,link} config
    platform platform/{network,telemetry,text,unsafe} vocabulary`,
  accounts: 'notifications/alerts activity store store/directory platform vocabulary',
  'accounts/keys': 'notifications/outbox activity store store/{cells,directory} platform vocabulary',
  'accounts/saved-views': 'activity store platform vocabulary',
  'accounts/sign-in': `
    accounts/members activity store store/{cells,directory} config platform
    platform/{network,schema} vocabulary`,
  'accounts/members': 'accounts/collectors activity store store/{cells,directory} platform vocabulary',
  'accounts/collectors': 'notifications notifications/outbox activity store store/cells platform vocabulary',
  'connections/monitoring-login': 'checks platform platform/text vocabulary',
  'connections/samples': 'connections notifications/destinations activity store',
  connections: `
    tickets notifications/{alerts,destinations,outbox} runs/{changes,queries} activity
    activity/seals checks store config platform platform/{network,text} vocabulary`,
  'tickets/silences': `
    tickets notifications/{alerts,outbox} runs/changes activity checks store platform platform/text
    vocabulary`,
  tickets: 'notifications/outbox checks vocabulary',
  'tickets/triage': 'notifications notifications/outbox activity store platform platform/text vocabulary',
  'notifications/deliveries': 'notifications/{destinations,log-streams} activity store platform vocabulary',
  'notifications/dispatch': `
    notifications notifications/{channels,destinations,log-streams,outbox,sending} runs/changes activity
    store
    store/cells platform platform/text vocabulary`,
  'notifications/run-events': `
    notifications notifications/{alerts,maintenance,outbox} runs activity checks store vocabulary`,
  'notifications/alerts': `
    notifications notifications/{channels,destinations,maintenance,outbox,sending} activity checks
    checks/vitals store store/cells platform platform/text vocabulary`,
  'notifications/destinations': `
    notifications notifications/{channels,digest,log-streams,maintenance,outbox,recipients,sending} activity store
    store/cells platform vocabulary`,
  'notifications/log-streams': `
    notifications/{channels,sending} activity activity/seals store store/cells platform vocabulary`,
  'notifications/channels': 'notifications notifications/sending activity platform platform/text vocabulary',
  'notifications/digest': `
    notifications notifications/{maintenance,outbox} activity checks store store/cells platform platform/{schema,text}
    vocabulary`,
  'notifications/outbox': 'notifications notifications/maintenance activity checks store vocabulary',
  'notifications/maintenance': 'notifications activity store platform platform/{schema,text}',
  notifications: 'store platform platform/text vocabulary',
  'notifications/recipients': 'activity store store/cells vocabulary',
  'notifications/sending': 'config platform platform/{network,text}',
  runs: 'checks store store/cells vocabulary',
  'runs/changes': 'checks store store/cells platform vocabulary',
  'runs/episodes': 'checks store vocabulary',
  'runs/load': 'store store/cells vocabulary',
  'runs/measures': 'checks store store/cells vocabulary',
  'runs/queries': 'activity checks store platform/text vocabulary',
  'activity/seals': 'activity store store/{cells,log} config platform platform/text',
  activity: 'store store/{cells,log} platform/{schema,text} vocabulary',
  'http/edge': 'http platform platform/{network,schema,telemetry,text,unsafe}',
  http: 'store platform platform/{network,schema,text}',
  'checks/vitals': 'checks vocabulary',
  checks: 'platform/text vocabulary',
  'store/directory': 'store store/{backup,cells,link,log,pool} config platform',
  'store/backup': 'store config',
  'store/exchange': 'store store/pool platform/{telemetry,unsafe}',
  store: 'store/{cells,link,pool} config platform platform/{telemetry,unsafe} vocabulary',
  'store/cells': '',
  'store/link': '',
  'store/log': '',
  'store/pool': 'platform/{telemetry,unsafe}',
  config: 'platform platform/{network,telemetry,text}',
  'platform/network': 'platform/text',
  'platform/schema': '',
  'platform/telemetry': 'platform vocabulary',
  platform: '',
  'platform/unsafe': 'platform/text',
  'platform/text': 'vocabulary',
  vocabulary: '',
};

/** Room to the rooms that its files may import. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(LIST).map(([room, others]) => [room, others.split(/\s+/).filter(Boolean).flatMap(expand)]),
);

/** The rooms of src/, from the entry points down. */
export const ROOMS = Object.keys(MAY_IMPORT);

/** `runs/{changes,queries}` → `runs/changes`, `runs/queries`. */
function expand(names: string): string[] {
  const [, before = names, inside] = /^(.*)\{(.*)\}$/.exec(names) ?? [];
  return inside === undefined ? [names] : inside.split(',').map((name) => before + name);
}

/** The area of a room: the folder of src/. */
export function areaOf(room: string): string {
  return room.split('/')[0] ?? '';
}

/** The room of a file of src/, such as `src/runs/changes/facts.ts`: the innermost that is listed. Null if there is none. */
export function roomOf(path: string): string | null {
  const folders = path.split('/').slice(1, -1);
  if (folders.length === 0) return ROOMS.find((room) => path === `src/${room}`) ?? null;
  for (let depth = folders.length; depth > 0; depth -= 1) {
    const room = folders.slice(0, depth).join('/');
    if (Object.hasOwn(MAY_IMPORT, room)) return room;
  }
  return null;
}

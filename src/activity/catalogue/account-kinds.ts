import { kind } from './action-kind.ts';
import { CHANGES, flag, idField, integer, object, optional, orNull, text } from './property.ts';

const account = {
  name: text('the name of the account', 'Example Ltd'),
  plan: text('the plan', 'enterprise'),
  requests_per_minute: orNull(integer("the account's own limit; null = the plan's", 500)),
};
const view = {
  view_id: idField('the view', 2),
  page: text('of the console', 'tickets'),
  is_shared: flag('whether all members see it'),
};
const viewName = optional(text('its name, if it is shared', 'My tickets'));

/** The account, its log, and the views that members save. */
export const ACCOUNT_KINDS = {
  account_created: kind({
    meaning: 'The account was created.',
    group: 'account',
    activity: 'create',
    target: null,
    properties: { ...account, kind: text('company or individual', 'company') },
  }),
  account_changed: kind({
    meaning: 'The name, plan or limit of the account changed.',
    group: 'account',
    severity: 'low',
    activity: 'update',
    target: null,
    properties: { ...account, ...CHANGES },
  }),
  activity_exported: kind({
    meaning: 'Entries were exported from the log.',
    group: 'account',
    severity: 'low',
    activity: 'export',
    target: null,
    properties: {
      format: text('ndjson or csv', 'ndjson'),
      filter: object('which entries', { action_type: 'api_request' }),
      last_id: idField('the last entry that there was', 1_042),
    },
  }),
  activity_pruned: kind({
    meaning: 'Entries were deleted because their time was over.',
    group: 'account',
    activity: 'delete',
    actor: 'service',
    target: null,
    properties: {
      up_to_id: idField('the last deleted entry', 1_000),
      entries: integer('how many were deleted since the last such entry', 1_000),
    },
  }),
  sample_data_added: kind({
    meaning: 'Sample data was added to the account.',
    group: 'account',
    activity: 'create',
    target: null,
    properties: {
      first_id: idField('the first entry of the sample', 2),
      last_id: idField('its last entry', 5_001),
    },
  }),
  saved_view_added: kind({
    meaning: 'A member saved a view of a page.',
    group: 'views',
    activity: 'create',
    target: 'view',
    targetName: 'name',
    properties: { ...view, name: viewName },
  }),
  saved_view_changed: kind({
    meaning: 'A saved view was changed.',
    group: 'views',
    activity: 'update',
    target: 'view',
    targetName: 'name',
    properties: {
      ...view,
      name: viewName,
      changed: CHANGES.changed,
      from: optional(CHANGES.from),
      to: optional(CHANGES.to),
    },
  }),
  saved_view_removed: kind({
    meaning: 'A saved view was removed.',
    group: 'views',
    activity: 'delete',
    target: 'view',
    targetName: 'name',
    properties: { ...view, name: viewName },
  }),
};

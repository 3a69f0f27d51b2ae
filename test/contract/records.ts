import { expect } from 'vitest';

/** The records of the API, as the specification and the README have them. */
export interface List<T> {
  data: T[];
  meta: { total: number; page: number; per_page: number; has_more: boolean };
}

export interface Single<T> {
  data: T;
}

export interface Connection {
  id: number;
  name: string;
  host: string;
  port: number;
  connection_type: string;
  latest_check_id: number | null;
  score: number | null;
  last_checked_at: string | null;
  summary_text: string | null;
}

export interface Finding {
  check_id: string;
  category: string;
  status: string;
  title: string;
  metric_line: string;
  remediation: string;
  severity: string;
}

export interface HealthCheck {
  id: number;
  score: number;
  summary_text: string;
  created_at: string;
  checks: Finding[];
}

export interface Fleet {
  data: { id: number; name: string; score: number | null; status: string }[];
  summary: { total: number; healthy: number; warning: number; critical: number; never_run: number };
}

export interface Ticket {
  id: number;
  connection_id: number;
  connection_name: string;
  check_id: string;
  category: string;
  title: string;
  object: string | null;
  severity: string;
  status: string;
  metric_line: string;
  remediation: string;
  first_seen_at: string;
  last_seen_at: string;
  resolved_at: string | null;
}

export interface Stats {
  open_count: number;
  resolved_this_week: number;
  critical_open: number;
  warning_open: number;
  avg_resolution_hours: number | null;
}

export interface Entry {
  id: number;
  action_type: string;
  page_path: string;
  properties: Record<string, unknown>;
  occurred_at: string;
}

export interface Member {
  id: number;
  name: string;
  email: string;
  roles: string[];
  status: string;
  joined_at: string;
  last_active_at: string | null;
}

export interface Role {
  id: string;
  name: string;
  description: string;
  permissions: string[];
}

export interface Failure {
  error: { code: string; message: string; retry_after?: number; parameter?: string };
}

/** UTC, milliseconds, trailing Z. */
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Matches an integer. */
export const integer = expect.toSatisfy(Number.isInteger, 'an integer');

/** Matches a time of the API. */
export const time = expect.stringMatching(TIME);

export type { Fetch } from './ask.ts';
export { type CallOptions, type ClientOptions, createClient, type DbvitalsClient } from './client.ts';
export { type ApiErrorCode, type ClientErrorCode, DbvitalsError, type ErrorCode } from './error.ts';
export type { FollowOptions } from './follow.ts';
export type { List, Page } from './list.ts';
export type { MirrorOptions, TicketBatch } from './mirror-tickets.ts';
export type { NumbersClient } from './numbers-client.ts';
export type * from './records.ts';

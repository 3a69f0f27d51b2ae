/**
 * `node:http`, without what an import makes of it: that reads each of its exports, and `WebSocket` loads an HTTP client of 8 MB, which no
 * process of ours needs that waits for work. For types, import the module itself.
 */
export const plainHttp: typeof import('node:http') = process.getBuiltinModule('node:http');

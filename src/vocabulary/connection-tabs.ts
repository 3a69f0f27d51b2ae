/** The tabs of a connection's page in the console, in their order: the values of its parameter `tab`. */
export const CONNECTION_TABS = [
  'overview',
  'now',
  'findings',
  'queries',
  'charts',
  'changes',
  'settings',
] as const;

export type ConnectionTab = (typeof CONNECTION_TABS)[number];

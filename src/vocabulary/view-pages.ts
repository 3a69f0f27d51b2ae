/** The pages whose filters can be saved as views. */
export const VIEW_PAGES = ['fleet', 'tickets'] as const;

export type ViewPage = (typeof VIEW_PAGES)[number];

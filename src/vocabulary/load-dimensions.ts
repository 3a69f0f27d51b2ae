/** By what the load of a server is split. */
export const LOAD_DIMENSION_NAMES = ['wait', 'query', 'role', 'application', 'database'] as const;

export type LoadDimension = (typeof LOAD_DIMENSION_NAMES)[number];

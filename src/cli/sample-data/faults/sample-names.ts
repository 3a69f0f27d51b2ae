/** Names of tables with faults. */
export const SAMPLE_TABLES = [
  'orders',
  'order_items',
  'payments',
  'invoices',
  'shipments',
  'customers',
  'addresses',
  'sessions',
  'events',
  'audit_log',
  'products',
  'prices',
  'stock_moves',
  'refunds',
  'coupons',
  'messages',
] as const;

/** The systems that the databases belong to. */
export const SAMPLE_SYSTEMS = [
  'orders',
  'billing',
  'catalogue',
  'accounts',
  'search',
  'shipping',
  'analytics',
  'messaging',
  'payments',
  'inventory',
] as const;

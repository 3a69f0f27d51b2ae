/** How long five minutes and hours of measures are kept (docs/design/measures.md). */
export const FIVE_MINUTES_KEPT_DAYS = 7;
export const HOURS_KEPT_DAYS = 60;
/** Days are kept for 13 months. */
export const DAYS_KEPT_MONTHS = 13;

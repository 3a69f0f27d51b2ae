/** SQL: whether a session row `s` is still valid. It ends after twelve hours without a request, and at its `expires_at`. */
export const LIVING = `s.expires_at > clock_timestamp() and s.last_seen_at > clock_timestamp() - interval '12 hours'`;

/** What the doctor found out about one thing; `remedy` says what to do, null where nothing is. */
export interface Diagnosis {
  about: string;
  status: 'ok' | 'warning' | 'error';
  message: string;
  remedy: string | null;
}

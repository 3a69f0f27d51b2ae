/** The result of one check of the doctor; `remedy` says what to do, null = nothing. */
export interface Diagnosis {
  about: string;
  status: 'ok' | 'warning' | 'error';
  message: string;
  remedy: string | null;
}

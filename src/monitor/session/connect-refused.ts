import { OwnWords } from '../../platform/text/own-words.ts';

/** dbvitals ended the attempt to connect itself. A retry does not help. */
export class ConnectRefused extends OwnWords {
  /** What a person can do about it, in sentences. */
  readonly advice: string;

  constructor(message: string, advice: string) {
    super(message);
    this.advice = advice;
  }
}

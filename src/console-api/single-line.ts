import { type TString, Type } from '../platform/schema/schema.ts';

// No control characters, no lone surrogates (jsonb rejects them), no line separators.
const TEXT = String.raw`[^\p{Cc}\p{Cs}\u2028\u2029]*`;

/** A single line of 1 to `maxLength` characters, not all blank; `description` is the error message. */
export function singleLine(maxLength: number, description: string): TString {
  return Type.String({ maxLength, pattern: `^(?=.*\\S)${TEXT}$`, description });
}

/** A {@link singleLine} that may be empty. */
export function singleLineOrEmpty(maxLength: number, description: string): TString {
  return Type.String({ maxLength, pattern: `^${TEXT}$`, description });
}

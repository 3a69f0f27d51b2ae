import { type TString, Type } from 'typebox';

// Neither control characters nor halves of characters (jsonb takes none), nor what readers of lines act on.
const TEXT = String.raw`[^\p{Cc}\p{Cs}\u2028\u2029]*`;

/** A person's text of one line, 1 to `maxLength` characters, not all of them blank; `description` is the rule. */
export function singleLine(maxLength: number, description: string): TString {
  return Type.String({ maxLength, pattern: `^(?=.*\\S)${TEXT}$`, description });
}

/** {@link singleLine} that may be empty. */
export function singleLineOrEmpty(maxLength: number, description: string): TString {
  return Type.String({ maxLength, pattern: `^${TEXT}$`, description });
}

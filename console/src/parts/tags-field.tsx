import { fieldError } from '../api.ts';
import { TextField } from './field.tsx';
import { TAGS_HELP } from './tags.tsx';

interface TagsFieldProps {
  text: string;
  onChange: (text: string) => void;
  /** The error of the last attempt. */
  error: unknown;
}

/** The field for the tags of a new connection. */
export function TagsField({ text, onChange, error }: TagsFieldProps) {
  return (
    <TextField
      description={`${TAGS_HELP}.`}
      error={fieldError(error, 'tags')}
      label="Tags"
      maxLength={2_000}
      mono
      onChange={onChange}
      placeholder="env:production"
      value={text}
    />
  );
}

import { TextField } from './field.tsx';
import { TAGS_HELP } from './tags.tsx';

/** The field for the tags of a new connection. */
export function TagsField({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  return (
    <TextField
      description={`${TAGS_HELP}.`}
      parameter="tags"
      label="Tags"
      maxLength={2_000}
      mono
      onChange={onChange}
      placeholder="env:production"
      value={text}
    />
  );
}

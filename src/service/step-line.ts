/** A line for a person: a step that takes long, or a sentence about what was done. */
export function stepLine(step: string): string {
  return step.endsWith('.') ? `${step}\n` : `${step} …\n`;
}

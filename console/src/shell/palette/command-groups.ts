import type { IconName } from '../../parts/icons.tsx';

/** Something that the palette can do. */
export interface Command {
  id: string;
  label: string;
  /** More of it, such as a host. */
  detail?: string;
  icon: IconName;
  run: () => void;
}

export interface CommandGroup {
  label: string;
  commands: readonly Command[];
}

/** The groups with only the commands that have every word of the text; groups without any are left out. */
export function matching(groups: readonly CommandGroup[], text: string): CommandGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return groups.flatMap(({ label, commands }) => {
    const found = commands.filter((command) =>
      words.every((word) => `${command.label} ${command.detail ?? ''}`.toLowerCase().includes(word)),
    );
    return found.length > 0 ? [{ label, commands: found }] : [];
  });
}

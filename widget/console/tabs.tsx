// A list of tabs: arrows move between them, as in other programs.

interface Given {
  names: string[];
  chosen: string;
  choose(name: string): void;
  label: string;
  /** Begins the ids of the tabs. */
  prefix: string;
}

export function Tabs({ names, chosen, choose, label, prefix }: Given) {
  const key = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };
    const step = steps[event.key];
    if (step) {
      const next = names[(names.indexOf(chosen) + step + names.length) % names.length];
      choose(next);
      document.getElementById(`${prefix}-${next}`)?.focus();
      event.preventDefault();
    }
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={key}>
      {names.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`${prefix}-${name}`}
          aria-selected={name === chosen}
          aria-controls={name === chosen ? `${prefix}-panel-${name}` : undefined}
          tabIndex={name === chosen ? 0 : -1}
          onClick={() => choose(name)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

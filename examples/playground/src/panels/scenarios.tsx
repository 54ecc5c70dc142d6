/**
 * The scenarios panel: guided examples, each in its own cluster.
 */
import { useEffect, useRef } from 'preact/hooks';
import { scenarios } from '../scenarios/index.js';
import { type Progress, type ProgressState, progressOf } from '../scenarios/progress.js';
import type { StepOutcome } from '../scenarios/runner.js';
import type { Scenario, Step } from '../scenarios/scenario.js';
import { useStore } from '../session/store.js';
import type { Panel, PanelProps } from './panel.js';

function ScenariosPanel({ session }: PanelProps) {
  const progress = progressOf(session);
  const state = useStore(progress.store, (each) => each);
  if (state.runner === undefined) return <Choice progress={progress} isBusy={state.isBusy} />;
  return <Story progress={progress} scenario={state.runner.scenario} state={state} />;
}

function Choice({ progress, isBusy }: { readonly progress: Progress; readonly isBusy: boolean }) {
  return (
    <div class="cards">
      <p class="muted">
        Each scenario runs in its own cluster. Your cluster and the text of the editor are kept: “Back to my cluster”
        brings both back.
      </p>
      {scenarios.map((scenario) => (
        <button
          type="button"
          class="card"
          key={scenario.id}
          id={`scenario-${scenario.id}`}
          disabled={isBusy}
          onClick={() => void progress.start(scenario)}
        >
          <b>{scenario.title}</b>
          <span class="card-summary">{scenario.summary}</span>
          <small>{`${scenario.steps.length} steps`}</small>
        </button>
      ))}
    </div>
  );
}

interface StoryProps {
  readonly progress: Progress;
  readonly scenario: Scenario;
  readonly state: ProgressState;
}

function Story({ progress, scenario, state: { runner, outcomes, isBusy } }: StoryProps) {
  const end = useRef<HTMLDivElement>(null);
  const next = runner?.next ?? 0;
  const isOver = runner?.isOver ?? false;
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'nearest' });
  }, [outcomes]);
  return (
    <div class="story">
      <div class="tools">
        <b>{scenario.title}</b>
        <span class="muted">{isOver ? 'done' : `step ${next + 1} of ${scenario.steps.length}`}</span>
        <span class="spacer" />
        <button
          type="button"
          class="small"
          id="scenario-back"
          disabled={isBusy}
          title="Returns to your cluster and text and discards the scenario's cluster"
          onClick={() => void progress.goBack()}
        >
          Back to my cluster
        </button>
        <button type="button" class="small" disabled={isBusy} onClick={() => void progress.start(scenario)}>
          Start over
        </button>
        <button type="button" class="small" disabled={isBusy} onClick={() => progress.leave()}>
          Other scenarios
        </button>
      </div>
      <ol class="steps">
        {scenario.steps.slice(0, next + 1).map((step, index) => (
          <StepView key={step.title} step={step} number={index + 1} outcome={outcomes[index]} />
        ))}
        {isOver && (
          <li class="over">
            The scenario is complete. Continue in this cluster with the editor or the command line, or go back to yours.
          </li>
        )}
      </ol>
      <div class="story-end" ref={end}>
        {!isOver && (
          <button
            type="button"
            class="primary"
            id="scenario-next"
            disabled={isBusy}
            onClick={() => void progress.step()}
          >
            {isBusy ? 'Working …' : outcomes[next]?.state === 'differs' ? 'Try again' : 'Do it'}
          </button>
        )}
      </div>
    </div>
  );
}

interface StepProps {
  readonly step: Step;
  readonly number: number;
  readonly outcome: StepOutcome | undefined;
}

function StepView({ step, number, outcome }: StepProps) {
  const state = outcome?.state ?? 'next';
  return (
    <li class={`step ${state}`}>
      <i aria-hidden="true">{state === 'done' ? '✓' : state === 'differs' ? '!' : number}</i>
      <div>
        <h3>{step.title}</h3>
        <p>{renderCode(step.description)}</p>
        {step.text !== undefined && outcome === undefined && (
          <small class="muted">puts a document into the editor</small>
        )}
        {(outcome?.results ?? step.lines.map((line) => ({ line, text: '', code: 0 }))).map(({ line, text, code }) => (
          <pre key={line}>
            <b>$ {line}</b>
            {text !== '' && <span class={code === 0 ? 'output' : 'failure'}>{text}</span>}
          </pre>
        ))}
        {outcome?.state === 'differs' && <p class="differs-reason">{`The check failed: ${outcome.reason}.`}</p>}
      </div>
    </li>
  );
}

/** Renders text in backquotes as code. */
function renderCode(text: string) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={String(index)}>{part}</code> : part));
}

export const scenariosPanel: Panel = { id: 'scenarios', title: 'Scenarios', Panel: ScenariosPanel };

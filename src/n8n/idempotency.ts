/** Idempotency keys: one for each execution, item and operation. */
import { createHash } from 'node:crypto';
import type { IExecuteFunctions } from 'n8n-workflow';

/**
 * Retry On Fail repeats an item in the same execution and run, and so with the same key. In a loop, a node has another
 * run each time. Numbers of executions are unique only within one database, so the key contains more.
 */
export function idempotencyKey(context: IExecuteFunctions, itemIndex: number, operation: string): string {
  const { $runIndex: run } = context.getWorkflowDataProxy(itemIndex);
  const node = [context.getInstanceId(), context.getWorkflow().id, context.getNode().id, operation];
  const hash = createHash('sha256').update(JSON.stringify(node)).digest('base64url').slice(0, 22);
  return `n8n-${context.getExecutionId()}-${run}-${itemIndex}-${hash}`;
}

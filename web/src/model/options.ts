/** A game's options as the catalogue offers them: JSON Schema in, fields of a form out. Pure. */

import type { GameOffered } from "../contracts";

export type OptionValue = string | number | boolean | null;

export interface OptionField {
  name: string;
  sentence: string;
  usual: OptionValue;
  kind: "switch" | "choice" | "number" | "text";
  choices: string[];
  min?: number;
  max?: number;
  step?: number;
}

interface Schema {
  type?: string;
  enum?: string[];
  anyOf?: Schema[];
  default?: OptionValue;
  description?: string;
  minimum?: number;
  maximum?: number;
  multipleOf?: number;
}

export function fieldsOf(game: GameOffered): OptionField[] {
  const properties = (game.options as { properties?: Record<string, Schema> }).properties ?? {};
  return Object.entries(properties).map(([name, schema]) => field(name, schema));
}

function field(name: string, schema: Schema): OptionField {
  const kind = schema.enum ? "choice" : KINDS[typeOf(schema)] ?? "text";
  return {
    name,
    sentence: schema.description ?? name,
    usual: schema.default ?? null,
    kind,
    choices: schema.enum ?? [],
    ...(schema.minimum === undefined ? {} : { min: schema.minimum }),
    ...(schema.maximum === undefined ? {} : { max: schema.maximum }),
    ...(schema.multipleOf === undefined ? {} : { step: schema.multipleOf }),
  };
}

const KINDS: Record<string, OptionField["kind"]> = { boolean: "switch", integer: "number", string: "text" };

/** Of an option that may be left open, the type of its other value. */
function typeOf(schema: Schema): string {
  return schema.type ?? schema.anyOf?.find((option) => option.type !== "null")?.type ?? "string";
}

/** What has to be said when a table is made: the usual goes without saying, and an empty field leaves it open. */
export function unusual(fields: readonly OptionField[], chosen: Readonly<Record<string, OptionValue>>): Record<string, OptionValue> {
  const said = fields.map(({ name, usual }) => [name, chosen[name] === undefined || chosen[name] === "" ? usual : chosen[name], usual] as const);
  return Object.fromEntries(said.filter(([, value, usual]) => value !== usual).map(([name, value]) => [name, value]));
}

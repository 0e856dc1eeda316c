// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it, vi } from "vitest";
import Hand from "../src/table/Hand.svelte";
import Panel from "../src/table/Panel.svelte";
import type { HandCard, Panel as PanelLook } from "../src/model/look";

const PICTURES = { front: (card: string) => `data:,${card}`, back: "data:,back" };
const HAND: HandCard[] = [
  { card: "AS", isLegal: true },
  { card: "KH", isLegal: false },
  { card: "2H", isLegal: true },
];

function held(hand: HandCard[], oneTap = false) {
  const play = vi.fn();
  const refuse = vi.fn();
  render(Hand, { hand, pictures: PICTURES, oneTap, play, refuse });
  return { play, refuse, card: (name: string) => screen.getByRole("button", { name }) };
}

afterEach(cleanup);

describe("a hand", () => {
  it("raises a card at the first tap and plays it at the second", async () => {
    const { play, card } = held(HAND);
    await fireEvent.click(card("ace of spades"));
    expect(play).not.toHaveBeenCalled();
    expect(card("ace of spades").className).toContain("raised");
    await fireEvent.click(card("ace of spades"));
    expect(play).toHaveBeenCalledExactlyOnceWith("AS");
  });

  it("raises another card instead, when that is tapped next", async () => {
    const { play, card } = held(HAND);
    await fireEvent.click(card("ace of spades"));
    await fireEvent.click(card("two of hearts"));
    expect(play).not.toHaveBeenCalled();
    expect(card("ace of spades").className).not.toContain("raised");
  });

  it("plays at one tap where that is set", async () => {
    const { play, card } = held(HAND, true);
    await fireEvent.click(card("two of hearts"));
    expect(play).toHaveBeenCalledExactlyOnceWith("2H");
  });

  it("plays a card that is swiped up", async () => {
    const { play, card } = held(HAND);
    await fireEvent.pointerDown(card("two of hearts"), { clientY: 300 });
    await fireEvent.pointerUp(card("two of hearts"), { clientY: 240 });
    await fireEvent.click(card("two of hearts"));
    expect(play).toHaveBeenCalledExactlyOnceWith("2H");
  });

  it("says why instead of playing a card that may not be played", async () => {
    const { play, refuse, card } = held(HAND, true);
    await fireEvent.click(card("king of hearts"));
    expect(play).not.toHaveBeenCalled();
    expect(refuse).toHaveBeenCalledExactlyOnceWith("KH");
    expect(card("king of hearts").getAttribute("aria-disabled")).toBe("true");
  });

  it("is walked through with the arrows", async () => {
    const { card } = held(HAND);
    card("ace of spades").focus();
    await fireEvent.keyDown(card("ace of spades"), { key: "ArrowRight" });
    expect(document.activeElement).toBe(card("king of hearts"));
    await fireEvent.keyDown(card("king of hearts"), { key: "ArrowLeft" });
    expect(document.activeElement).toBe(card("ace of spades"));
  });
});

describe("a panel", () => {
  function shown(panel: PanelLook) {
    const send = vi.fn();
    render(Panel, { panel, pictures: PICTURES, send });
    return { send, button: (name: string | RegExp) => screen.getByRole<HTMLButtonElement>("button", { name }) };
  }

  it("bids what stands there, and never more or less than is legal", async () => {
    const { send, button } = shown({ kind: "bid", title: "Your bid", bids: [150, 155], pass: { type: "pass_bid" } });
    expect(button("Less").disabled).toBe(true);
    await fireEvent.click(button("More"));
    expect(button("More").disabled).toBe(true);
    await fireEvent.click(button("Bid 155"));
    expect(send).toHaveBeenCalledExactlyOnceWith({ type: "bid", points: 155 });
    await fireEvent.click(button("Pass"));
    expect(send).toHaveBeenLastCalledWith({ type: "pass_bid" });
  });

  it("names trump and convert cards together, and no more of them than are allowed", async () => {
    const converts = ["AH", "KD", "3S"].map((card) => ({ card, ordinal: 1 }));
    const { send, button } = shown({ kind: "converts", title: "Name", suits: ["S", "H"], converts, max: 2 });
    await fireEvent.click(button("A, ace of hearts"));
    expect(button("Name them").disabled).toBe(true);
    await fireEvent.click(screen.getByRole("radio", { name: "Spades" }));
    await fireEvent.click(button("K, king of diamonds"));
    expect(button("3, three of spades").disabled).toBe(true);
    await fireEvent.click(button("Name them"));
    expect(send).toHaveBeenCalledExactlyOnceWith({
      type: "name_converts",
      trump: "S",
      converts: [{ card: "AH", ordinal: 1 }, { card: "KD", ordinal: 1 }],
    });
  });

  it("sends the command of a choice", async () => {
    const { send, button } = shown({ kind: "choices", title: "", choices: [{ label: "Ask for the trump", command: { type: "ask_trump" } }] });
    await fireEvent.click(button("Ask for the trump"));
    expect(send).toHaveBeenCalledExactlyOnceWith({ type: "ask_trump" });
  });
});

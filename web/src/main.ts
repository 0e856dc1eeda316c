import { mount } from "svelte";
import App from "./App.svelte";
import { watchShell } from "./shell/shell.svelte";
import { settings } from "./ui/settings.svelte";
import "./ui/tokens.css";
import { preferred, speak } from "./words/language.svelte";

await speak(settings.language ?? preferred(navigator.languages));
watchShell();
mount(App, { target: document.body });

// One line an area, as in `catalogs.ts`.
import agents from './en/agents.json'
import approvals from './en/approvals.json'
import chat from './en/chat.json'
import home from './en/home.json'
import resources from './en/resources.json'
import runs from './en/runs.json'
import settings from './en/settings.json'
import triggers from './en/triggers.json'

export const others = { agents, approvals, chat, home, resources, runs, settings, triggers }

import { Component, type ReactNode } from 'react'
import { Trouble } from '@/ui/Trouble'

/** A page that fails says so in its place; the rest goes on. */
export class Failsafe extends Component<{ children: ReactNode }, { error: unknown }> {
  state = { error: null as unknown }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  render() {
    if (this.state.error === null) return this.props.children
    return (
      <div className="mx-auto max-w-xl p-8">
        <Trouble error={this.state.error} retry={() => this.setState({ error: null })} />
      </div>
    )
  }
}

import { create } from 'zustand'
import { useT } from '@/i18n/t'
import { Button } from './Button'
import { Modal } from './Modal'

interface Question {
  title: string
  text: string
  action: string
  danger?: boolean
  answer: (yes: boolean) => void
}

const useQuestion = create<{ question: Question | null }>(() => ({ question: null }))

/** Asks before something that cannot be undone; resolves to whether it was agreed to. */
export const confirm = (question: Omit<Question, 'answer'>): Promise<boolean> =>
  new Promise((answer) => useQuestion.setState({ question: { ...question, answer } }))

export function Confirm() {
  const t = useT()
  const question = useQuestion((state) => state.question)
  const end = (yes: boolean) => {
    question?.answer(yes)
    useQuestion.setState({ question: null })
  }
  if (!question) return null
  return (
    <Modal
      open
      onOpenChange={(open) => !open && end(false)}
      title={question.title}
      footer={
        <>
          <Button onClick={() => end(false)}>{t('common.cancel')}</Button>
          <Button autoFocus look={question.danger ? 'danger' : 'primary'} onClick={() => end(true)}>
            {question.action}
          </Button>
        </>
      }
    >
      <p>{question.text}</p>
    </Modal>
  )
}

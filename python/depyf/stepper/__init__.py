"""Steps through bytecode, and shows the instruction, the source, and the value stack with the meaning of each slot."""

from depyf.stepper.block import step
from depyf.stepper.slots import NULL, Slot
from depyf.stepper.stop import Block, Frame, Instruction, Stop

__all__ = ["NULL", "Block", "Frame", "Instruction", "Slot", "Stop", "step"]

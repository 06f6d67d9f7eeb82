"""Labels that are sets: a yes-or-no question for each label of an event, all of them on one budget."""

from askance.learner.multilabel.classifier import MultiLabelClassifier, make_multilabel
from askance.learner.multilabel.label_sets import MultiLabelTrace

__all__ = ["MultiLabelClassifier", "MultiLabelTrace", "make_multilabel"]
